// Pointing and brushing of the charts, in reports and in hpotune web.  Without it
// a page is complete; marks then say what they are by their titles.
"use strict";
const hpotune = (() => {
const $ = (selector, of = document) => of.querySelector(selector);
const all = (selector, of = document) => [...of.querySelectorAll(selector)];
const tip = document.createElement("div");
const titles = new Map(); // trial -> the title of one of its marks
const hooks = {
	// The text about a trial that is shown where the mouse is.
	line: async trial => titles.get(trial) || `trial ${trial}`,
	// A click on a trial; false when it did nothing.
	choose: () => false,
	// Names that are not of parameters in filters.
	taken: /^$/,
	// Below parallel coordinates: the filter in words, and how many lines.
	brushed: (note, words, n) => {
		note.textContent = `${n} of the lines drawn: ${words}`;
	}
};

// ---- messages ---------------------------------------------------------------

tip.id = "tip";
tip.setAttribute("role", "status");
document.body.append(tip);

let tipTimer = 0;

function say(text, x, y) {
	clearTimeout(tipTimer);
	tip.textContent = text;
	tip.className = text ? "shown" : "";
	if (x === undefined) {
		tip.removeAttribute("style");
		tipTimer = setTimeout(() => say(""), 6000);
		return;
	}
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4,
	    Math.min(x + 14, innerWidth - box.width - 8)) + "px";
	tip.style.top = (y + box.height + 24 > innerHeight
	    ? y - box.height - 8 : y + 14) + "px";
}

// ---- pointing: the trial under the mouse, everywhere on the page -------------

let hot = 0;

function draw(svg, name, attributes) {
	const element = document.createElementNS(svg.namespaceURI, name);
	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	svg.append(element);
}

// Marks of a chart that have no element of their own: [x, y, trial], in the
// chart's units; read from the paths once.
function marksOf(svg) {
	if (svg.marks)
		return svg.marks;
	svg.marks = [];
	for (const path of all("path[data-trials]", svg)) {
		const trials = path.dataset.trials.trim().split(" ");
		// The shape's offset from its mark: x, y of its first point.
		const dx = path.classList.contains("dot") ? 0
		    : path.classList.contains("cross") ? 2.5 : 3;
		const dy = path.classList.contains("cross") ? 2.5 : 0;
		let i = 0;
		for (const m of path.getAttribute("d")
		    .matchAll(/M(-?[\d.]+) (-?[\d.]+)/g))
			if (i < trials.length)
				svg.marks.push([+m[1] + dx, +m[2] + dy,
				    +trials[i++]]);
	}
	return svg.marks;
}

function chartPoint(svg, event) {
	const at = new DOMPoint(event.clientX, event.clientY)
	    .matrixTransform(svg.getScreenCTM().inverse());
	return [at.x, at.y];
}

// The trial of a mark that is an element of its own.
function trialOf(element) {
	return element.tagName === "path" ? +element.dataset.trial || 0 : 0;
}

function trialAt(event) {
	const row = event.target.closest("tr[data-trial]");
	if (row)
		return +row.dataset.trial;
	const svg = event.target.closest("svg");
	if (!svg)
		return 0;
	if (trialOf(event.target))
		return trialOf(event.target);
	const [x, y] = chartPoint(svg, event);
	let best = 0, near = 10 * 10;
	for (const [mx, my, trial] of marksOf(svg)) {
		const d = (mx - x) ** 2 + (my - y) ** 2;
		if (d < near)
			[near, best] = [d, trial];
	}
	if (best)
		return best;
	// A thin line is hard to hit: look around.
	for (const [dx, dy] of [[0, -3], [0, 3], [-3, 0], [3, 0]]) {
		const other = document.elementFromPoint(
		    event.clientX + dx, event.clientY + dy);
		if (other && trialOf(other))
			return trialOf(other);
	}
	return 0;
}

function heat(trial) {
	all(".hot").forEach(element => element.classList.remove("hot"));
	all("circle.hot-ring").forEach(ring => ring.remove());
	hot = trial;
	if (!trial)
		return;
	for (const row of all(`tr[data-trial="${trial}"]`))
		row.classList.add("hot");
	for (const path of all("main svg path"))
		if (trialOf(path) === trial)
			path.classList.add("hot");
	for (const svg of all("main svg")) {
		const mark = marksOf(svg).find(m => m[2] === trial);
		if (mark)
			draw(svg, "circle", { class: "hot-ring", cx: mark[0],
			    cy: mark[1], r: 6 });
	}
}

async function point(event) {
	if (dragging || event.buttons)
		return;
	const trial = trialAt(event);
	if (trial !== hot)
		heat(trial);
	if (!trial)
		return say("");
	const { clientX, clientY } = event;
	const text = await hooks.line(trial);
	if (trial === hot)
		say(text, clientX, clientY);
}

function click(event) {
	if (event.target.closest("a, button, input") || dragged)
		return;
	const trial = trialAt(event);
	if (trial)
		hooks.choose(trial, event);
}

// ---- brushing of parallel coordinates ----------------------------------------

let dragging = null, dragged = false;
const brushes = new Map(); // axis -> [from, to] in the chart's y, from < to

function axisNear(svg, x) {
	let best = null, near = 14;
	for (const axis of all("path.axis", svg)) {
		const [, ax, top, length] = /M([\d.]+) ([\d.]+)v([\d.]+)/
		    .exec(axis.getAttribute("d")).map(Number);
		if (Math.abs(ax - x) < near) {
			near = Math.abs(ax - x);
			best = { axis, x: ax, top, bottom: top + length,
			    name: axis.dataset.axis };
		}
	}
	return best;
}

// The value at a share u of a range on a scale.
function valueAt(u, min, max, scale) {
	if (scale === "log")
		return min * Math.pow(max / min, u);
	if (scale === "reverse-log")
		return 1 - (1 - min) * Math.pow((1 - max) / (1 - min), u);
	return +min + u * (max - min);
}

function quoted(value) {
	return typeof value === "number" ? String(value)
	    : `"${String(value).replaceAll('"', "")}"`;
}

// A brush as words of the filter.
function wordsOf(axis, [from, to]) {
	const full = (hooks.taken.test(axis.name) &&
	    !axis.axis.classList.contains("aim") ? "params." : "") + axis.name;
	const name = /^[A-Za-z_][\w.-]*$/.test(full) ? full : quoted(full);
	if (axis.axis.dataset.values) {
		const values = JSON.parse(axis.axis.dataset.values);
		const height = axis.bottom - axis.top;
		const inside = values.filter((value, i) => {
			const y = axis.bottom -
			    (i + 0.5) / values.length * height;
			return y >= from && y <= to;
		});
		return `${name} in (${inside.map(quoted).join(", ") || "-"})`;
	}
	const { min, max, scale } = axis.axis.dataset;
	const value = y => valueAt((axis.bottom - y) /
	    (axis.bottom - axis.top), min, max, scale).toPrecision(6);
	return `${name} >= ${value(to)} and ${name} <= ${value(from)}`;
}

function heightAt(path, x) {
	const points = [...path.getAttribute("d")
	    .matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)];
	const at = points.find(p => Math.abs(p[1] - x) < 0.2);
	return at ? +at[2] : NaN;
}

function brushShow(svg) {
	for (const box of all("rect.brush", svg))
		box.remove();
	const axes = [];
	for (const [name, range] of brushes) {
		const path = all("path.axis", svg)
		    .find(a => a.dataset.axis === name);
		const axis = path && axisNear(svg,
		    +/M([\d.]+)/.exec(path.getAttribute("d"))[1]);
		if (!axis)
			continue;
		axes.push([axis, range]);
		draw(svg, "rect", { class: "brush", x: axis.x - 6, width: 12,
		    y: range[0], height: range[1] - range[0] });
	}
	const kept = new Set();
	for (const path of all("path", svg)) {
		const trial = trialOf(path);
		if (!trial)
			continue;
		const inside = axes.every(([axis, [from, to]]) => {
			const y = heightAt(path, axis.x);
			return y >= from - 0.06 && y <= to + 0.06;
		});
		path.classList.toggle("out", !inside);
		if (inside)
			kept.add(trial);
	}
	for (const path of all("#part-curves path"))
		path.classList.toggle("out", axes.length > 0 &&
		    trialOf(path) > 0 && !kept.has(trialOf(path)));
	const note = $(".brushed", svg.parentNode);
	note.textContent = axes.length ? "" : "Drag along axes to choose trials.";
	if (!axes.length)
		return;
	hooks.brushed(note, axes.map(([a, r]) => wordsOf(a, r)).join(" and "),
	    kept.size);
}

function brushStart(event) {
	const svg = event.target.closest(".parallel svg");
	dragged = false;
	if (!svg || event.button)
		return;
	const [x, y] = chartPoint(svg, event);
	const axis = axisNear(svg, x);
	if (!axis)
		return;
	event.preventDefault();
	dragging = { svg, axis, from: y };
	brushes.delete(axis.name);
	brushShow(svg);
}

function brushMove(event) {
	if (!dragging)
		return;
	const { svg, axis, from } = dragging;
	const y = chartPoint(svg, event)[1];
	const clamp = v => Math.min(axis.bottom, Math.max(axis.top, v));
	dragged = true;
	if (Math.abs(y - from) < 2)
		brushes.delete(axis.name);
	else
		brushes.set(axis.name,
		    [clamp(Math.min(y, from)), clamp(Math.max(y, from))]);
	brushShow(svg);
}

// ---- start ----------------------------------------------------------------------

// Titles of marks become our own words, shown without delay.
function setup(part) {
	for (const title of all("svg title", part)) {
		const named = /^trial (\d+)/.exec(title.textContent);
		if (named) {
			title.parentNode.dataset.trial = named[1];
			if (!titles.has(+named[1]))
				titles.set(+named[1], title.textContent);
			title.remove();
		} else if (title.parentNode.tagName === "svg")
			title.remove(); // or it would cover the words
	}
	all(".parallel svg", part).forEach(brushShow);
	if (hot)
		heat(hot);
}

setup(document);
document.addEventListener("click", click);
document.addEventListener("pointermove", event => {
	brushMove(event);
	point(event);
});
document.addEventListener("pointerdown", brushStart);
addEventListener("pointerup", () => { dragging = null; });
addEventListener("keydown", event => {
	if (event.key === "Escape") {
		brushes.clear();
		all(".parallel svg").forEach(brushShow);
		say("");
	}
});
return { hooks, say, setup, chartPoint, draw, valueAt, $, all };
})();
