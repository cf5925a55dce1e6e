// The playground: texts in, `proviso prove|simplify|bounds --json` in
// WebAssembly, an answer out.  In Node it answers for tests:
//   node playground.js proviso.js '["prove", "--json", "1 < 2"]'
"use strict";

// The command's output and exit status.  Each call is a process of its own, as
// on a command line; the module is compiled once.
async function runCommand(create, words) {
  const out = [];
  const module = await create({
    print: line => out.push(line),
    printErr: line => out.push(line),
    instantiateWasm: runCommand.instantiate,
  });
  let status;
  try {
    status = module.callMain(words);
  } catch (error) {
    if (error.status === undefined) throw error;
    status = error.status;
  }
  return {out, status};
}

const EXAMPLES = [
  {name: "A multiple of 8 is one of 4",
   symbols: "s0 in [2, int_oo]", facts: "s0 % 8 == 0", question: "s0 % 4 == 0"},
  {name: "... and of 16?",
   symbols: "s0 in [2, int_oo]", facts: "s0 % 8 == 0",
   question: "s0 % 16 == 0"},
  {name: "A linearised index is in bounds",
   symbols: "i in [0, int_oo]\nj in [0, int_oo]\nm in [1, int_oo]\nn in [1, int_oo]",
   facts: "i < m\nj < n", question: "i*n + j < m*n"},
  {name: "A count from data",
   symbols: "u0 in [0, int_oo]", facts: "u0 <= 512\nu0 % 4 == 0",
   question: "Ne(u0, 511)"},
  {name: "Simplify: rounded up to a multiple",
   symbols: "n in [1, 4096]", facts: "n % 8 == 0", question: "(n + 7)//8*8"},
  {name: "Simplify: take an index apart",
   symbols: "i in [0, int_oo]\nj in [0, 31]", facts: "",
   question: "(32*i + j)//64 * 64 + (32*i + j) % 64"},
  {name: "Facts that contradict each other",
   symbols: "n in [1, 100]", facts: "n % 2 == 0\nn % 4 == 1",
   question: "n > 7"},
];

function lines(text) {
  return text.split("\n").map(line => line.trim()).filter(line => line);
}

function factsOf(inputs) {
  return [...lines(inputs.symbols).flatMap(line => ["--symbol", line]),
          ...lines(inputs.facts).flatMap(line => ["--assume", line])];
}

function startPage() {
  const element = id => document.getElementById("pg-" + id);
  const output = element("output");
  if (!output || output.dataset.started) return;
  output.dataset.started = "yes";
  const fields = ["symbols", "facts", "question"];
  const inputs = () => Object.fromEntries(
    fields.map(name => [name, element(name).value]));

  function show(...children) { output.replaceChildren(...children); }
  function node(tag, text, className) {
    const result = document.createElement(tag);
    result.textContent = text;
    if (className) result.className = className;
    return result;
  }
  function table(rows) {
    const list = document.createElement("dl");
    for (const [name, value] of rows) {
      if (value === "" || value === null || value === undefined) continue;
      list.append(node("dt", name), node("dd", value));
    }
    return list;
  }
  const point = value => value && Object.entries(value)
    .map(([name, number]) => `${name} = ${number}`).join(", ");
  const failed = done => show(node("p",
    done.out.filter(line => !line.startsWith("{")).join("\n")
      .replace(/^proviso: /, ""), "playground-error"));

  async function ask() {
    const given = inputs(), facts = factsOf(given);
    history.replaceState(null, "", "#" + new URLSearchParams(given));
    element("link").href = location.href;
    if (!given.question.trim()) return show(node("p", "Ask a question."));
    const call = words => runCommand(createProviso, words);
    const proved = await call(
      ["prove", ...facts, "--tiers", "native", "--json", given.question]);
    if (proved.status <= 2) {
      const a = JSON.parse(proved.out.at(-1));
      return show(
        node("span", a.answer, "playground-verdict playground-" + a.answer),
        table([["because of", a.facts.join("; ")],
               ["fails at", point(a.counterexample)],
               ["holds at", point(a.witness)],
               ["in words", a.reason],
               ["strategy", a.strategy], ["tier", a.tier]]));
    }
    if (!proved.out.join("\n").includes("expected a boolean question")) {
      return failed(proved);
    }
    const simple = await call(["simplify", ...facts, given.question]);
    const bounds = await call(["bounds", ...facts, given.question]);
    if (simple.status !== 0) return failed(simple);
    show(table([["cheapest form", simple.out.join("\n")],
                [bounds.status === 0 ? "bounds" : "no bounds",
                 bounds.out.join("\n")]]));
  }

  let timer = 0;
  function askSoon() { clearTimeout(timer); timer = setTimeout(ask, 250); }
  function fill(values) {
    for (const name of fields) element(name).value = values[name] ?? "";
    ask();
  }
  EXAMPLES.forEach((example, index) =>
    element("example").append(new Option(example.name, index)));
  element("example").addEventListener("change",
    event => fill(EXAMPLES[event.target.value]));
  for (const name of fields) element(name).addEventListener("input", askSoon);
  element("ask").addEventListener("click", ask);
  element("ask").closest(".playground").addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
    event.stopPropagation();  // the site's own shortcuts are letters
  });
  const linked = Object.fromEntries(
    new URLSearchParams(location.hash.slice(1)));
  fill("question" in linked ? linked : EXAMPLES[0]);
}

if (typeof document !== "undefined") {
  startPage();
} else {
  const create = require(require("path").resolve(process.argv[2]));
  (async () => {
    for (const words of process.argv.slice(3)) {
      const done = await runCommand(create, JSON.parse(words));
      console.log(JSON.stringify(done));
    }
    process.exitCode = 0;  // the last command's, until here
  })();
}
