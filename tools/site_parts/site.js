// SPDX-License-Identifier: Apache-2.0
// Light and dark, the contents on a narrow screen, and the search. Opens from disk: the index is a
// script, fetched when the search is first used.
"use strict";

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
function kept() {
  try { return localStorage.getItem("plateau-theme"); } catch { return null; }
}
function show(theme) { root.dataset.theme = theme; }
show(kept() ?? (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => { if (kept() === null) show(dark.matches ? "dark" : "light"); });

// Each word of the question must begin a word of the section; headings count more than text, and
// more still where the whole heading is the question.
function score(entry, words) {
  let total = 0;
  for (const word of words) {
    const at = (text) => new RegExp(`(^|[^a-z0-9])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`).test(text);
    if (at(entry.heading)) total += 10;
    else if (at(entry.page)) total += 6;
    else if (at(entry.text)) total += 1;
    else return 0;
  }
  return total + (entry.heading === words.join(" ") ? 20 : 0);
}

let entries = null;
function load(then) {
  if (entries !== null) return then();
  const script = document.createElement("script");
  script.src = `${root.dataset.root}/index.js`;
  script.onload = () => {
    entries = window.plateauIndex.map((each) => ({
      ...each, heading: each.h.toLowerCase(), page: each.p.toLowerCase(), text: each.t.toLowerCase(),
    }));
    then();
  };
  document.head.append(script);
}

function excerpt(entry, word) {
  const at = Math.max(0, entry.text.indexOf(word) - 40);
  return (at > 0 ? "… " : "") + entry.t.slice(at, at + 140) + (entry.t.length > at + 140 ? " …" : "");
}

function find(question, list) {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = words.length === 0;
  if (words.length === 0) return;
  const best = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0);
  best.sort((a, b) => b[0] - a[0]);
  for (const [, entry] of best.slice(0, 12)) {
    const link = document.createElement("a");
    link.href = `${root.dataset.root}/${entry.u}`;
    const title = document.createElement("b");
    title.textContent = entry.h === entry.p ? entry.h : `${entry.h} · ${entry.p}`;
    const text = document.createElement("span");
    text.textContent = excerpt(entry, words[0]);
    link.append(title, text);
    list.append(link);
  }
  if (best.length === 0) list.textContent = "Nothing found.";
}

document.addEventListener("DOMContentLoaded", () => {
  const search = document.getElementById("search");
  const list = document.getElementById("found");
  const menu = document.getElementById("menu");
  search.addEventListener("input", () => load(() => find(search.value, list)));
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape") { list.hidden = true; search.blur(); }
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      const links = [...list.querySelectorAll("a")];
      const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      (links[next] ?? search).focus();
    }
    if (event.key === "Enter" && event.target === search) list.querySelector("a")?.click();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) list.hidden = true; });
  list.addEventListener("click", () => { list.hidden = true; });
  menu.addEventListener("click", () => {
    menu.setAttribute("aria-expanded", String(document.body.classList.toggle("contents")));
  });
  document.getElementById("theme").addEventListener("click", () => {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("plateau-theme", theme); } catch { /* From disk some browsers keep nothing. */ }
    show(theme);
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { search.value = asked; load(() => find(asked, list)); }
});
