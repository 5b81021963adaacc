(() => {
  "use strict";
  document.documentElement.classList.add("scripted");
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll("table.rows tbody tr")];
  const sections = [...document.querySelectorAll("section.file")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const apply = () => {
    const { file, kind, verdict, surprise, words } = form.elements;
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of sections) {
      let any = false;
      const name = section.dataset.file;
      for (const row of section.querySelectorAll("tbody tr")) {
        const fits = (!file.value || file.value === name)
          && (!kind.value || kind.value === row.cells[1].textContent)
          && (!verdict.value || row.cells[2].className === verdict.value)
          && (!surprise.checked || row.classList.contains("x"))
          && wanted.every((word) => texts.get(row).includes(word) || name.toLowerCase().includes(word));
        row.hidden = !fits;
        any ||= fits;
        shown += fits ? Number(row.dataset.n) : 0;
      }
      section.hidden = !any;
    }
    const total = Number(form.dataset.total);
    form.elements.shown.value = shown === total ? `${total.toLocaleString("en")} statements`
      : `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} statements`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply();

  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden || target.closest("[hidden]")) form.reset();
    const details = target.querySelector(":scope > td > details");
    if (details) details.open = true;
    setTimeout(() => target.scrollIntoView({ block: "center" }));
  };
  addEventListener("hashchange", reveal);
  reveal();

  let pictures = null;
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const draw = async (details) => {
    const place = details.querySelector("[data-picture]:empty");
    if (!place || !details.open || typeof DecompressionStream === "undefined") return;
    pictures ??= unpack("pictures");
    const picture = (await pictures)[Number(place.dataset.picture)];
    const parsed = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement;
    place.replaceChildren(document.importNode(parsed, true));
  };
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => draw(details));
    if (details.open) draw(details);
  }

  let runs = null;
  const play = async (number) => {
    const opened = open("", "_blank");
    runs ??= unpack("runs");
    const { page, shared, runs: all } = await runs;
    const { kept, ...config } = all[number];
    const inside = JSON.stringify({ ...config, kept: { ...shared[kept.name], ...kept } })
      .replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const text = page.replace("THENCE-CONFIG", () => inside);
    const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    if (opened) opened.location = address;
    else location.href = address;
  };
  for (const button of document.querySelectorAll("button.play")) {
    button.addEventListener("click", () => play(Number(button.dataset.run)));
  }
})();
