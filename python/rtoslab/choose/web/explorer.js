// All kernels on one board, operation by operation. What is shown follows from the form; the figures stand in the page.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("figures").textContent);
  const form = document.getElementById("choice");
  const out = document.getElementById("operations");
  const told = document.getElementById("told");
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const option = (value, text) => element("option", text, { value });
  const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 });

  for (const board of data.boards) form.board.append(option(board.id, board.title));
  for (const use of data.uses) form.use.append(option(use, use));
  form.service.append(option("", "all operations"));
  for (const service of data.services) form.service.append(option(service, service));
  form.against.append(option("", "no kernel: figures"));
  for (const kernel of data.kernels) {
    form.against.append(option(kernel.id, kernel.title));
    const label = element("label");
    label.append(element("input", undefined, { type: "checkbox", name: "kernel", value: kernel.id }), ` ${kernel.title}`);
    label.firstChild.checked = kernel.current;
    document.getElementById("kernels").append(label);
  }
  for (const operation of data.operations) {
    const label = element("label", `${operation.title} `);
    label.append(element("input", undefined, { type: "number", min: 0, step: 1, name: "weight", id: `w-${operation.id}` }));
    document.getElementById("weights").append(label);
  }
  const setWeights = () => {
    for (const each of data.operations) document.getElementById(`w-${each.id}`).value = each.weights[form.use.value] ?? 0;
  };

  const chosen = () => [...form.querySelectorAll("[name=kernel]:checked")].map((box) => box.value);
  const figure = (kernel, operation) => data.figures[form.board.value]?.[kernel]?.[operation.id];
  const differ = (one, other) => one.known && other.known && (one.most < other.least || other.most < one.least);
  const better = (operation, one, other) => (operation.better === "more" ? one.median > other.median : one.median < other.median);

  // The leader of one operation, and whoever cannot be told from it.
  const leaders = (operation, rows) => {
    const first = rows[0];
    return rows.filter((row) => row === first || !differ(row.figure, first.figure)).map((row) => row.kernel);
  };

  const weight = (operation) => Number(document.getElementById(`w-${operation.id}`).value);
  const counts = (kernel, operation) => figure(kernel, operation)?.known && figure(kernel, operation).least > 0;

  // How much `one` needs of what `other` needs: the weighted geometric mean of the operations.
  const mean = (operations, one, other) => {
    const whole = operations.reduce((sum, each) => sum + weight(each), 0);
    const sum = operations.reduce((total, each) => {
      const ratio = figure(one(each), each).median / figure(other(each), each).median;
      return total + weight(each) * Math.log(each.better === "more" ? 1 / ratio : ratio);
    }, 0);
    return whole ? Math.exp(sum / whole) : 1;
  };

  // The leader is nearest to the best of each operation. The others are held against the leader, over what both have.
  const score = (kernels) => {
    const counted = data.operations.filter(
      (operation) => weight(operation) > 0 && kernels.filter((kernel) => counts(kernel, operation)).length > 1,
    );
    const half = counted.reduce((sum, each) => sum + weight(each), 0) / 2;
    const own = (kernel) => counted.filter((operation) => counts(kernel, operation));
    const known = kernels.filter((kernel) => own(kernel).length && own(kernel).reduce((sum, each) => sum + weight(each), 0) >= half);
    if (known.length < 2) return { counted: 0, scores: [] };
    const best = (operation) =>
      known
        .filter((kernel) => counts(kernel, operation))
        .reduce((one, other) => (better(operation, figure(other, operation), figure(one, operation)) ? other : one));
    const apart = known.map((kernel) => ({ kernel, ratio: mean(own(kernel), () => kernel, best) }));
    const leader = apart.reduce((one, other) => (other.ratio < one.ratio ? other : one)).kernel;
    const scores = known.map((kernel) => {
      const shared = own(kernel).filter((operation) => counts(leader, operation));
      return { kernel, operations: shared.length, ratio: mean(shared, () => kernel, () => leader) };
    });
    const order = (each) => (each.kernel === leader ? -1 : each.ratio);
    return { counted: counted.length, scores: scores.sort((one, other) => order(one) - order(other)) };
  };

  const title = (id) => data.kernels.find((kernel) => kernel.id === id).title;

  // A bar from zero, or of a row whose figures lie far apart on a logarithmic scale, with the band over placements on it.
  const bar = (shown, scale) => {
    const place = (value) => Math.max(0, Math.min(100, scale(value)));
    const box = element("div", undefined, { class: "bar", "aria-hidden": "true" });
    const filled = element("div", undefined, { class: "filled" });
    filled.style.width = `${place(shown.median)}%`;
    const band = element("div", undefined, { class: "spread" });
    band.style.left = `${place(shown.least)}%`;
    band.style.width = `${Math.max(0.6, place(shown.most) - place(shown.least))}%`;
    box.append(filled, band);
    return box;
  };

  const card = (heading, unit, rows, best) => {
    const values = rows.map((row) => row.shown.most);
    const least = Math.min(...rows.map((row) => row.shown.least));
    const most = Math.max(...values);
    const log = least > 0 && most / least > 40;
    const scale = log
      ? (value) => (100 * (Math.log(Math.max(value, 1e-9)) - Math.log(least / 2))) / (Math.log(most) - Math.log(least / 2))
      : (value) => (most ? (100 * value) / most : 0);
    const table = element("table");
    table.append(element("caption", heading));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      line.append(element("th", row.title, { scope: "row" }));
      line.insertCell().append(bar(row.shown, scale));
      const cell = line.insertCell();
      const marked = row.shown.known && best.includes(row.kernel);
      cell.className = marked ? "n good" : "n";
      cell.textContent = row.text + (marked ? " *" : row.shown.known ? "" : " ?");
    }
    const section = element("section", undefined, { class: "card" });
    section.append(element("h3", heading), element("p", `${unit}${log ? ", log scale" : ""}`, { class: "note" }), table);
    return section;
  };

  const ratioOf = (operation, mine, other) => {
    const flip = operation.better === "more";
    const of = (one, two) => (flip ? two / one : one / two);
    return {
      median: of(mine.median, other.median),
      least: flip ? other.least / mine.most : mine.least / other.most,
      most: flip ? other.most / mine.least : mine.most / other.least,
      known: mine.known && other.known,
    };
  };

  const draw = () => {
    const kernels = chosen().filter((kernel) => data.figures[form.board.value]?.[kernel]);
    const against = form.against.value;
    out.replaceChildren();
    const ranking = score(kernels);
    if (ranking.counted && kernels.length > 1) {
      const rows = ranking.scores.map(({ kernel, operations, ratio }) => ({
        kernel, title: `${title(kernel)} (${operations})`, text: ratio.toFixed(2),
        shown: { median: ratio, least: ratio, most: ratio, known: true },
      }));
      out.append(card("Weighted mean", "times the leader, over so many operations that both have", rows, [rows[0].kernel]));
    }
    for (const operation of data.operations) {
      if (form.service.value && !operation.services.includes(form.service.value)) continue;
      let rows = kernels
        .map((kernel) => ({ kernel, title: title(kernel), figure: figure(kernel, operation) }))
        .filter((row) => row.figure);
      if (!rows.length) continue;
      rows.sort((one, other) => (better(operation, one.figure, other.figure) ? -1 : 1));
      const best = leaders(operation, rows);
      const base = against && figure(against, operation);
      if (against && !base) continue;
      for (const row of rows) {
        row.shown = base ? ratioOf(operation, row.figure, base) : row.figure;
        row.text = base ? `${row.shown.median.toFixed(2)} ×` : number(row.figure.median);
      }
      out.append(card(operation.title, base ? `times ${title(against)}, less is better` : operation.unit, rows, best));
    }
    const absent = chosen().filter((kernel) => !kernels.includes(kernel)).map(title);
    told.textContent =
      `${kernels.length} kernels on the ${form.board.selectedOptions[0].textContent}.` +
      (absent.length ? ` No figures there of ${absent.join(", ")}.` : "");
  };
  form.use.addEventListener("change", setWeights);
  form.addEventListener("input", draw);
  setWeights();
  draw();
})();
