"use strict";
(() => {
  const portion = 20;
  const by = (id) => document.getElementById(id);
  const entries = [...document.querySelectorAll(".learning")].map((node) => ({
    node,
    text: node.textContent.toLowerCase(),
    category: node.dataset.category,
    status: node.dataset.status,
    tag: node.dataset.tag.split("\n"),
    file: node.dataset.file.split("\n"),
  }));
  if (!entries.length) return;
  const value = (id) => (by(id) ? by(id).value.trim().toLowerCase() : "");
  let most = portion;

  function show() {
    const words = value("words").split(/\s+/);
    const [category, status] = [value("category"), value("status")];
    const tag = value("tag").replace(/^#/, "");
    const file = value("file");
    const fits = (one) =>
      words.every((word) => one.text.includes(word)) &&
      (!category || one.category === category) &&
      (!status || one.status === status) &&
      (!tag || one.tag.some((each) => each.startsWith(tag))) &&
      (!file || one.file.some((each) => each.toLowerCase().includes(file)));
    let found = 0;
    for (const one of entries) one.node.hidden = !fits(one) || ++found > most;
    by("found").textContent =
      `${found.toLocaleString("en")} of ${entries.length.toLocaleString("en")}`;
    by("more").hidden = found <= most;
  }

  function open() {
    const target = by(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches(".learning")) return;
    target.hidden = false;
    target.open = true;
    target.querySelector("summary").focus();
    target.scrollIntoView();
  }

  if (matchMedia("(max-width: 44rem)").matches)
    for (const one of document.querySelectorAll("details.numbers")) one.open = false;
  by("filters").hidden = false;
  by("filters").addEventListener("input", () => {
    most = portion;
    show();
  });
  by("more").addEventListener("click", () => {
    const first = entries.filter((one) => !one.node.hidden).length;
    most += portion;
    show();
    entries.filter((one) => !one.node.hidden)[first].node.querySelector("summary").focus();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|SELECT/.test(event.target.tagName)) return;
    event.preventDefault();
    by("words").focus();
  });
  addEventListener("hashchange", open);
  show();
  open();
})();
