// The script of hpotune web: live parts, pointing, brushing, actions, logs.
// Without it the pages are complete, and are reloaded by hand.
"use strict";
(() => {
const body = document.body;
const tip = document.getElementById("tip");
const main = document.querySelector("main");
const study = /^\/s\/[^/]+/.exec(location.pathname);
const $ = (selector, of = document) => of.querySelector(selector);
const all = (selector, of = document) => [...of.querySelectorAll(selector)];
const here = path => (study ? study[0] : "") + path;

// ---- messages ---------------------------------------------------------------

let tipTimer = 0;

function say(text, x, y) {
	clearTimeout(tipTimer);
	tip.textContent = text;
	tip.className = text ? "shown" : "";
	if (x === undefined) {
		tip.style.removeProperty("left");
		tip.style.removeProperty("top");
		tipTimer = setTimeout(() => say(""), 6000);
		return;
	}
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4,
	    Math.min(x + 14, innerWidth - box.width - 8)) + "px";
	tip.style.top = (y + box.height + 24 > innerHeight
	    ? y - box.height - 8 : y + 14) + "px";
}

// ---- the token --------------------------------------------------------------

async function login() {
	const form = $("#login");
	if (!form || location.hash.length < 2)
		return;
	const answer = await fetch("/login", { method: "POST",
	    redirect: "manual",
	    body: new URLSearchParams({ token: location.hash.slice(1) }) });
	if (answer.ok || answer.type === "opaqueredirect") {
		history.replaceState(null, "", location.pathname);
		location.replace(location.pathname + location.search);
	}
}

// ---- actions ----------------------------------------------------------------

async function act(button) {
	const form = new URLSearchParams({ do: button.dataset.do });
	const words = $(`input[data-words="${button.dataset.do}"]`);
	if (words) {
		if (!words.value.trim())
			return say("Enter a setting first: NAME=VALUE ...");
		form.set("words", words.value);
	}
	if (button.dataset.trial)
		form.set("trial", button.dataset.trial);
	if (button.dataset.ask && !confirm(button.dataset.ask))
		return;
	button.disabled = true;
	try {
		const answer = await fetch(here("/do"), { method: "POST",
		    body: form,
		    headers: { "X-Hpotune-Form": body.dataset.form } });
		say((await answer.text()).trim() || (answer.ok ? "done"
		    : "failed"));
		if (answer.ok && words)
			words.value = "";
	} catch (wrong) {
		say("hpotune web does not answer.");
	}
	button.disabled = false;
}

// ---- pointing: the trial under the mouse, everywhere on the page -------------

let hot = 0;
const lines = new Map(); // trial -> its line of text, or a promise of it

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

// The trial that an element's title names.
function trialOf(element) {
	const title = element.tagName === "path" && $("title", element);
	const named = title && /^trial (\d+)/.exec(title.textContent);
	return named ? +named[1] : 0;
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
	for (const element of all(".hot"))
		element.classList.remove("hot");
	hot = trial;
	if (!trial)
		return;
	for (const row of all(`tr[data-trial="${trial}"]`))
		row.classList.add("hot");
	for (const path of all("main svg path")) {
		if (trialOf(path) === trial)
			path.classList.add("hot");
	}
	for (const svg of all("main svg")) {
		const ring = $("circle.hot-ring", svg);
		if (ring)
			ring.remove();
		const mark = marksOf(svg).find(m => m[2] === trial);
		if (!mark)
			continue;
		const circle = document.createElementNS(svg.namespaceURI,
		    "circle");
		circle.setAttribute("class", "hot-ring");
		circle.setAttribute("cx", mark[0]);
		circle.setAttribute("cy", mark[1]);
		circle.setAttribute("r", 6);
		svg.append(circle);
	}
}

async function lineOf(trial) {
	if (!lines.has(trial))
		lines.set(trial, fetch(here(`/trial/${trial}/line`))
		    .then(answer => answer.ok ? answer.text() : `trial ${trial}`)
		    .catch(() => `trial ${trial}`));
	return lines.get(trial);
}

async function point(event) {
	if (!study || dragging)
		return;
	const trial = trialAt(event);
	if (trial !== hot) {
		heat(trial);
		for (const ring of trial ? [] : all("circle.hot-ring"))
			ring.remove();
	}
	if (!trial)
		return say("");
	const { clientX, clientY } = event;
	const text = await lineOf(trial);
	if (trial === hot)
		say(text, clientX, clientY);
}

// Click: the trial's page.  With Shift: choose it for a comparison.
const chosen = new Set();

function choose(event) {
	if (event.target.closest("a, button, input") || dragged)
		return;
	const trial = study && trialAt(event);
	if (!trial)
		return;
	if (!event.shiftKey) {
		location.href = here(`/trial/${trial}`);
		return;
	}
	event.preventDefault();
	if (!chosen.delete(trial))
		chosen.add(trial);
	let link = $("#chosen");
	if (!link) {
		link = document.createElement("a");
		link.id = "chosen";
		$("nav").append(link);
	}
	link.hidden = !chosen.size;
	link.textContent = `compare trials ${[...chosen].join(", ")}`;
	link.href = here("/trials?" + [...chosen].map(t => "trial=" + t)
	    .join("&"));
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

// The value at a height of an axis; its scale is in the axis' attributes.
function valueAt(axis, y) {
	const u = (axis.bottom - y) / (axis.bottom - axis.top);
	const { min, max, scale } = axis.axis.dataset;
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
	const name = /^[A-Za-z_][\w.-]*$/.test(axis.name) ? axis.name
	    : quoted(axis.name);
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
	return `${name} >= ${valueAt(axis, to).toPrecision(6)} and ` +
	    `${name} <= ${valueAt(axis, from).toPrecision(6)}`;
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
		const box = document.createElementNS(svg.namespaceURI, "rect");
		box.setAttribute("class", "brush");
		box.setAttribute("x", axis.x - 6);
		box.setAttribute("width", 12);
		box.setAttribute("y", range[0]);
		box.setAttribute("height", range[1] - range[0]);
		svg.append(box);
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
	let note = $(".brushed", svg.parentNode);
	if (!note) {
		note = document.createElement("p");
		note.className = "note brushed";
		svg.after(note);
	}
	note.textContent = axes.length ? "" : "Drag along axes to choose trials.";
	if (!axes.length)
		return;
	const link = document.createElement("a");
	const query = new URLSearchParams(location.search);
	query.set("where", axes.map(([a, r]) => wordsOf(a, r)).join(" and "));
	query.delete("page");
	link.href = "?" + query + "#trials";
	link.textContent = "show these trials in the table";
	note.append(`${kept.size} of the lines drawn; `, link);
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

// ---- live parts ---------------------------------------------------------------

function setup(part) {
	for (const title of all("svg > title", part))
		title.remove(); // or it would cover our own words
	for (const svg of all(".parallel svg", part))
		brushShow(svg);
	if (hot)
		heat(hot);
}

// Replace a part by its counterpart in a page that is fetched anew.
async function refetch(selector, target) {
	const start = performance.now();
	try {
		const answer = await fetch(location.href,
		    { headers: { Accept: "text/html" } });
		if (answer.ok) {
			const page = new DOMParser().parseFromString(
			    await answer.text(), "text/html");
			const fresh = $(selector, page), old = $(selector);
			const typing = old && old.contains(
			    document.activeElement) &&
			    document.activeElement.tagName === "INPUT";
			if (fresh && old && !typing &&
			    fresh.innerHTML !== old.innerHTML) {
				old.innerHTML = fresh.innerHTML;
				setup(old);
			}
		}
	} catch (wrong) {
		// The next event tries again.
	}
	return performance.now() - start;
}

// At most one fetch at a time, and none sooner than its cost allows.
function follower(selector) {
	let busy = false, again = false;
	const run = async () => {
		if (busy || document.hidden) {
			again = true;
			return;
		}
		busy = true;
		again = false;
		const took = await refetch(selector);
		setTimeout(() => {
			busy = false;
			if (again)
				run();
		}, Math.max(500, 20 * took));
	};
	document.addEventListener("visibilitychange", () => again && run());
	return run;
}

function live() {
	const address = body.dataset.live, mark = $(".live");
	if (!address)
		return;
	if (address === "/") {
		const run = follower("#part-studies");
		setInterval(run, 2000);
		return;
	}
	const single = $("#part-trial");
	const run = follower(single ? "#part-trial" : "#trials");
	const events = new EventSource(address + (single ? "?tick=1" : ""));
	events.onopen = () => {
		mark.textContent = "live";
		mark.classList.remove("trouble");
	};
	events.onerror = () => {
		mark.textContent = "hpotune web does not answer";
		mark.classList.add("trouble");
	};
	events.addEventListener("tick", () => {
		lines.clear();
		run();
	});
	events.addEventListener("part", event => {
		const { name, html } = JSON.parse(event.data);
		const part = document.getElementById("part-" + name);
		if (part) {
			part.innerHTML = html;
			setup(part);
		}
	});
}

// ---- logs ---------------------------------------------------------------------

async function follow(log) {
	let from = "";
	for (;;) {
		try {
			const answer = await fetch(log.dataset.log + from);
			if (!answer.ok) {
				log.textContent = await answer.text();
				return;
			}
			const text = await answer.text();
			const down = log.scrollHeight - log.scrollTop -
			    log.clientHeight < 40;
			if (text)
				log.textContent = (log.textContent + text)
				    .slice(-262144);
			if (down)
				log.scrollTop = log.scrollHeight;
			from = "&from=" + answer.headers.get("X-Next");
			if (answer.headers.get("X-Over") === "1" && !text)
				return;
			if (text.length > 30000)
				continue;
		} catch (wrong) {
			// hpotune web may come back.
		}
		await new Promise(done => setTimeout(done, 1000));
	}
}

// ---- start ----------------------------------------------------------------------

login();
setup(document);
live();
all("pre[data-log]").forEach(follow);
document.addEventListener("click", event => {
	const button = event.target.closest("button[data-do]");
	if (button)
		act(button);
	else
		choose(event);
});
main.addEventListener("pointermove", event => {
	brushMove(event);
	point(event);
});
main.addEventListener("pointerdown", brushStart);
addEventListener("pointerup", () => { dragging = null; });
addEventListener("keydown", event => {
	if (event.key === "Escape") {
		brushes.clear();
		all(".parallel svg").forEach(brushShow);
		say("");
	} else if (event.key === "/" && event.target.tagName !== "INPUT") {
		const filter = $("input[name=where]");
		if (filter) {
			event.preventDefault();
			filter.focus();
		}
	}
});
})();
