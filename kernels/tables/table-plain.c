/* The kernels without libraries. */

#include "kernels/curve-bank/curve-bank.h"
#include "kernels/mix/mix.h"
#include "kernels/replay/replay-policies.h"

const struct kernels *
kernels_plain(void)
{
	static const struct kernels plain = {
		.name = "cpu",
		.device = "this CPU",
		.bank_new = curve_bank_new,
		.bank_free = curve_bank_free,
		.bank_guess = curve_bank_guess,
		.mix_density = mix_density,
		.replay = replay_policies,
	};

	return &plain;
}
