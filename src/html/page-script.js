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
	for (const element of [...all(`tr[data-trial="${trial}"]`),
	    ...all("main svg path").filter(path => trialOf(path) === trial)])
		element.classList.add("hot");
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
	const link = event.target.closest("a[href^='?']");
	if (link)
		link.setAttribute("href", "?" +
		    carry(new URLSearchParams(link.search)) + link.hash);
	if (event.target.closest("a, button, input") || dragged)
		return;
	const trial = trialAt(event);
	if (trial)
		hooks.choose(trial, event);
}

// ---- brushing of parallel coordinates ----------------------------------------

let dragging = null, dragged = false;
// Axis -> [from, to] in its values; those of choices are from 0 to their number.
const brushes = new Map();

for (const [key, range] of new URLSearchParams(location.search)) {
	const ends = range.split("..").map(Number);
	if (key.startsWith("brush.") && ends.length === 2 && ends[0] <= ends[1])
		brushes.set(key.slice(6), ends);
}

// Fields of a query or of a form get the brushes there are now.
function carry(fields) {
	for (const name of [...fields.keys()])
		if (name.startsWith("brush."))
			fields.delete(name);
	for (const [name, ends] of brushes)
		fields.set("brush." + name, ends.join(".."));
	return fields;
}

function address() {
	const query = String(carry(new URLSearchParams(location.search)));
	history.replaceState(null, "", location.pathname +
	    (query && "?" + query) + location.hash);
}

const scales = { linear: [Number, Number], log: [Math.log, Math.exp],
	"reverse-log": [v => Math.log(1 - v), v => 1 - Math.exp(v)] };

// The value at a share u of a range on a scale.
function valueAt(u, min, max, scale) {
	const [to, back] = scales[scale];
	return back(to(min) + u * (to(max) - to(min)));
}

function axesOf(svg) {
	return all("path.axis", svg).map(path => {
		const [, x, top, length] = /M([\d.]+) ([\d.]+)v([\d.]+)/
		    .exec(path.getAttribute("d")).map(Number);
		const { axis: name, min, max, scale, values } = path.dataset;
		const list = values && JSON.parse(values);
		return { name, x, top, bottom: top + length, list,
		    aim: path.classList.contains("aim"),
		    range: list ? [0, list.length, "linear"] : [min, max, scale] };
	});
}

// The height of a value on an axis.
function heightOf({ top, bottom, range: [min, max, scale] }, value) {
	const [low, high, at] = [min, max, value].map(scales[scale][0]);
	return bottom - (at - low) / (high - low) * (bottom - top);
}

function quoted(value) {
	return typeof value === "number" ? String(value)
	    : `"${String(value).replaceAll('"', "")}"`;
}

// A brush as words of the filter.
function wordsOf(axis, [from, to]) {
	const full = (hooks.taken.test(axis.name) && !axis.aim ? "params." : "") +
	    axis.name;
	const name = /^[A-Za-z_][\w.-]*$/.test(full) ? full : quoted(full);
	const inside = axis.list?.filter((value, i) => i + 0.5 >= from &&
	    i + 0.5 <= to).map(quoted).join(", ");
	return axis.list ? `${name} in (${inside || "-"})`
	    : `${name} >= ${from} and ${name} <= ${to}`;
}

function heightAt(path, x) {
	return +[...path.getAttribute("d")
	    .matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)]
	    .find(at => Math.abs(at[1] - x) < 0.2)?.[2];
}

function brushShow(svg) {
	all("rect.brush", svg).forEach(box => box.remove());
	const axes = axesOf(svg).filter(axis => brushes.has(axis.name));
	for (const axis of axes) {
		[axis.low, axis.high] = brushes.get(axis.name)
		    .map(value => heightOf(axis, value));
		draw(svg, "rect", { class: "brush", x: axis.x - 6, width: 12,
		    y: axis.high, height: axis.low - axis.high });
	}
	const kept = new Set();
	for (const path of all("path", svg).filter(trialOf)) {
		const inside = axes.every(axis => {
			const y = heightAt(path, axis.x);
			return y >= axis.high - 0.06 && y <= axis.low + 0.06;
		});
		path.classList.toggle("out", !inside);
		if (inside)
			kept.add(trialOf(path));
	}
	for (const path of all("#part-curves path"))
		path.classList.toggle("out", axes.length > 0 &&
		    trialOf(path) > 0 && !kept.has(trialOf(path)));
	const note = $(".brushed", svg.parentNode);
	note.textContent = axes.length ? "" : "Drag along axes to choose trials.";
	if (axes.length)
		hooks.brushed(note, axes.map(axis => wordsOf(axis,
		    brushes.get(axis.name))).join(" and "), kept.size);
}

function brushStart(event) {
	const svg = event.target.closest(".parallel svg");
	dragged = false;
	if (!svg || event.button)
		return;
	const [x, y] = chartPoint(svg, event);
	const off = axis => Math.abs(axis.x - x);
	const axis = axesOf(svg).sort((a, b) => off(a) - off(b))[0];
	if (off(axis) >= 14)
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
	dragged = true;
	brushes.delete(axis.name);
	if (Math.abs(y - from) >= 2)
		brushes.set(axis.name, [Math.max(from, y), Math.min(from, y)]
		    .map(v => +valueAt(Math.min(1, Math.max(0, (axis.bottom - v) /
			(axis.bottom - axis.top))), ...axis.range).toPrecision(8)));
	brushShow(svg);
}

// Titles of marks become our own words, shown without delay.
function setup(part) {
	for (const title of all("svg title", part)) {
		const named = /^trial (\d+)/.exec(title.textContent);
		if (named) {
			title.parentNode.dataset.trial = named[1];
			if (!titles.has(+named[1]))
				titles.set(+named[1], title.textContent);
		}
		if (named || title.parentNode.tagName === "svg")
			title.remove(); // or it would cover the words
	}
	all(".parallel svg", part).forEach(brushShow);
	if (hot)
		heat(hot);
}

setup(document);
document.addEventListener("click", click);
for (const move of [brushMove, point])
	document.addEventListener("pointermove", move);
document.addEventListener("pointerdown", brushStart);
addEventListener("pointerup", () => { dragging = dragging && address(); });
addEventListener("formdata", event => carry(event.formData));
addEventListener("keydown", event => {
	if (event.key === "Escape") {
		brushes.clear();
		all(".parallel svg").forEach(brushShow);
		address();
		say("");
	}
});
return { hooks, say, setup, chartPoint, draw, valueAt, $, all };
})();
