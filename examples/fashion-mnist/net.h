/*
 * A multi-layer perceptron: ReLU and dropout between the layers, softmax and
 * cross-entropy at the end, all in single precision with BLAS.
 */

#ifndef TRAIN_NET_H
#define TRAIN_NET_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"

enum { NET_LAYERS_MAX = 3 };

/* y = x w + b. Matrices are stored row by row. */
struct net_layer {
	size_t in, out;
	float *w, *dw; /* in x out */
	float *b, *db; /* out */
	float *y, *dy; /* rows x out; y after ReLU and dropout */
};

struct net {
	size_t layers, rows; /* rows: the largest batch */
	struct net_layer layer[NET_LAYERS_MAX];
	size_t count; /* of all weights and biases */
	float *params, *grads; /* layer by layer, weights then biases */
	float *activity; /* every y and dy */
};

/* A network of n+1 sizes: inputs, hidden layers, classes. Its weights are 0. */
void net_init(struct net *, const size_t *sizes, size_t layers, size_t rows);

void net_free(struct net *);

/* Draws weights for ReLU (He et al. 2015), uniform; biases become 0. */
void net_draw(struct net *, struct rng *);

/*
 * Puts n pictures (n x inputs) through the network. A share `dropout` of the
 * hidden units is switched off and the rest scaled up; 0 when not training,
 * and then nothing is drawn.
 */
void net_forward(
    struct net *, const float *x, size_t n, float dropout, struct rng *);

/*
 * After net_forward: the sum of the cross-entropies of n pictures; adds to
 * `right` the number that were classified as labelled. A picture whose result
 * is not finite counts as wrong. Leaves the gradient of the mean in the last
 * layer.
 */
double net_loss(struct net *, const uint8_t *labels, size_t n, size_t *right);

/* After net_loss: the gradient of the mean loss, into grads. */
void net_backward(struct net *, const float *x, size_t n, float dropout);

#endif
