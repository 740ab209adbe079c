// hpotune web: live parts, actions, logs, the way from a mark to its trial.
"use strict";
(() => {
const { hooks, say, setup, chartPoint, draw, valueAt, $, all } = hpotune;
// The path begins with the secret, unless a socket of the user's own is read.
const study = /^(\/[0-9a-f]{32})?\/s\/[^/]+/.exec(location.pathname);
const here = path => (study ? study[0] : "") + path;

async function act(button) {
	const form = new URLSearchParams({ do: button.dataset.do });
	const words = $(`input[data-words="${button.dataset.do}"]`);
	if (words?.reportValidity() === false ||
	    button.dataset.ask && !confirm(button.dataset.ask))
		return;
	if (words)
		form.set("words", words.value);
	if (button.dataset.trial)
		form.set("trial", button.dataset.trial);
	button.disabled = true;
	try {
		const answer = await fetch(here("/do"), { method: "POST",
		    body: form,
		    headers: { "X-Hpotune-Form": document.body.dataset.form } });
		say((await answer.text()).trim() || (answer.ok ? "done"
		    : "failed"));
		if (answer.ok && words && button.dataset.do !== "note")
			words.value = "";
		if (answer.ok && /^(archive|restore)$/.test(button.dataset.do))
			location.reload();
	} catch (wrong) {
		say("hpotune web does not answer.");
	}
	button.disabled = false;
}

const lines = new Map(); // trial -> a promise of its line of text

if (study)
	hooks.line = async trial => {
	if (!lines.has(trial))
		lines.set(trial, fetch(here(`/trial/${trial}/line`))
		    .then(answer => answer.ok ? answer.text() : `trial ${trial}`)
		    .catch(() => `trial ${trial}`));
	return lines.get(trial);
};

// Click: the trial's page.  With Shift: choose it for a comparison.
const chosen = new Set();

hooks.choose = (trial, event) => {
	if (!study || zoomed)
		return;
	if (!event.shiftKey)
		return location.assign(here(`/trial/${trial}`));
	event.preventDefault();
	if (!chosen.delete(trial))
		chosen.add(trial);
	const link = $("#chosen");
	link.hidden = !chosen.size;
	link.textContent = `compare trials ${[...chosen].join(", ")}`;
	link.href = here(`/trials?trial=${[...chosen].join("&trial=")}`);
};

hooks.taken = new RegExp("^(trial|state|objective|step|seconds|attempts|" +
    "started|why|reports|backend|ended|cost|gpu_seconds)$");

hooks.brushed = (note, words, n) => {
	const link = document.createElement("a");
	const query = new URLSearchParams(location.search);
	query.set("where", words);
	query.delete("page");
	link.href = "?" + query + "#trials";
	link.textContent = "show these trials in the table";
	note.append(`${n} of the lines drawn; `, link);
};

// Nothing is replaced under a pressed button: its click would be lost.
let pressed, release;
addEventListener("pointerdown", () => pressed ||= new Promise(done =>
    release = () => setTimeout(() => done(pressed = null))), true);
for (const kind of ["pointerup", "pointercancel"])
	addEventListener(kind, () => release?.(), true);

function replace(old, html) {
	const open = all("details", old).map(details => details.open);
	const keys = "a, button, input, select, summary";
	const at = all(keys, old).indexOf(document.activeElement);
	old.innerHTML = html;
	all("details", old).forEach((d, i) => { d.open ||= open[i]; });
	setup(old);
	all(keys, old)[at]?.focus({ preventScroll: true });
}

// Replace parts by their counterparts in a page that is fetched anew.
async function refetch(selector) {
	const start = performance.now();
	const answer = await fetch(location.href,
	    { headers: { Accept: "text/html" } }).catch(() => null);
	const page = answer?.ok && new DOMParser().parseFromString(
	    await answer.text(), "text/html");
	await pressed;
	for (const old of page ? all(selector) : []) {
		const fresh = page.getElementById(old.id);
		const typing = old.contains(document.activeElement) &&
		    document.activeElement.matches("input:not([type])");
		if (!fresh || typing || fresh.innerHTML === old.innerHTML)
			continue;
		const checked = all(":checked", old).map(b => b.value);
		replace(old, fresh.innerHTML);
		for (const box of all("input[type=checkbox]", old))
			box.checked = checked.includes(box.value);
	}
	return performance.now() - start;
}

// At most one fetch at a time, and none sooner than its cost allows.
function follower(selector) {
	let busy = false, again = false;
	async function run() {
		again = true;
		while (!busy && again && !document.hidden) {
			[busy, again] = [true, false];
			const took = await refetch(selector);
			await new Promise(done =>
			    setTimeout(done, Math.max(500, 20 * took)));
			busy = false;
		}
	}
	document.addEventListener("visibilitychange", () => again && run());
	return run;
}

function live() {
	const address = document.body.dataset.live, mark = $(".live");
	if (!address)
		return;
	if (address === "refetch")
		return setInterval(follower("[id^=part-]"), 2000);
	const single = $("#part-trial");
	const run = follower(single ? "#part-trial" : "#trials, [data-zoomed]");
	const tell = (text, wrong) => {
		mark.textContent = text;
		mark.classList.toggle("trouble", wrong);
	};
	let events;
	// A hidden page listens to nothing: a browser has few connections.
	const listen = () => {
		events?.close();
		if (document.hidden)
			return;
		events = new EventSource(address + (single ? "?tick=1" : ""));
		events.onopen = () => tell("live", false);
		events.onerror = () => tell("hpotune web does not answer",
		    true);
		events.addEventListener("trouble", event =>
		    tell(JSON.parse(event.data).why, true));
		events.addEventListener("tick", () => { lines.clear(); run(); });
		events.addEventListener("part", async event => {
			const { name, html } = JSON.parse(event.data);
			await pressed;
			const part = document.getElementById("part-" + name);
			if (part && !part.dataset.zoomed)
				replace(part, html);
		});
	};
	document.addEventListener("visibilitychange", listen);
	listen();
}

let drag = null, zoomed = false;

function zoomStart(event) {
	const svg = event.target.closest("svg[data-zoom]");
	zoomed = false;
	drag = svg && !event.button && event.pointerType !== "touch" &&
	    { svg, name: svg.dataset.zoom, from: chartPoint(svg, event) };
}

function zoomMove(event) {
	drag.to = chartPoint(drag.svg, event);
	const [low, high] = [Math.min, Math.max].map(least =>
	    drag.from.map((from, i) => least(from, drag.to[i])));
	$("rect.brush", drag.svg)?.remove();
	zoomed ||= Math.max(high[0] - low[0], high[1] - low[1]) >= 16;
	draw(drag.svg, "rect", { class: "brush", x: low[0], y: low[1],
	    width: high[0] - low[0], height: high[1] - low[1] });
}

// The range goes into the address; that of values when the box is high.
function zoomEnd() {
	const { svg, name, from, to } = drag;
	const query = new URLSearchParams(location.search);
	for (const [i, axis] of Object.entries(["x", "y"])) {
		const [min, max, start, end, scale] =
		    (svg.dataset[axis] || "").split(" ");
		if (!scale || Math.abs(to[i] - from[i]) < 16)
			continue;
		query.set(`${name}.${axis}`, [from[i], to[i]].map(at =>
		    Math.min(1, Math.max(0, (at - start) / (end - start))))
		    .sort((a, b) => a - b).map(u =>
			+valueAt(u, min, max, scale).toPrecision(5)).join(".."));
	}
	location.href = "?" + query + "#" + svg.closest("[id]").id;
}

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

setup(document); // again, with our hooks
live();
all("pre[data-log]").forEach(follow);
addEventListener("pointerdown", zoomStart);
addEventListener("pointermove", e => drag && e.buttons && zoomMove(e));
addEventListener("pointerup", () => { drag = zoomed ? zoomEnd() : null; });
document.addEventListener("click", event => {
	const button = event.target.closest("button[data-do]");
	if (button)
		act(button);
});
addEventListener("keydown", event => {
	const filter = $("input[name=where]");
	if (event.key !== "/" || event.target.tagName === "INPUT" || !filter)
		return;
	event.preventDefault();
	filter.focus();
});
})();
