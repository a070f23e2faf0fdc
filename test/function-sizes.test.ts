import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listFunctions, MAX_FUNCTION_LINES } from "../scripts/function-sizes.ts";

const root = join(import.meta.dirname, "..");

function repeat(line: (index: number) => string): string {
  return Array.from({ length: MAX_FUNCTION_LINES }, (_, index) => line(index)).join("\n");
}

/** Whether a function around the statements counts as flat. */
function isFlat(body: string): boolean | undefined {
  return listFunctions("planted.ts", `function planted() {\n${body}\n}\n`)[0]?.isFlat;
}

it("Every function in src has at most 60 lines, or is a flat table or switch", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const sizes = files
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .flatMap((path) => listFunctions(path, readFileSync(join(root, "src", path), "utf8")));
  expect(sizes.length).toBeGreaterThan(10_000);
  expect(sizes.filter(({ lines, isFlat: flat }) => lines > MAX_FUNCTION_LINES && !flat)).toEqual(
    [],
  );
});

it("The size of a function has its place and its number of lines", () => {
  expect(listFunctions("planted.ts", "\nfunction planted() {\n  return 1;\n}\n")).toEqual([
    { name: "planted.ts:2", lines: 3, isFlat: false },
  ]);
});

it("A switch of short cases is flat, also after declarations", () => {
  const cases = repeat((index) => `    case ${index}:\n      return run${index}(value);`);
  expect(isFlat(`  switch (value) {\n${cases}\n  }`)).toBe(true);
  expect(isFlat(`  const { type } = value;\n  switch (type) {\n${cases}\n  }`)).toBe(true);
});

it("A returned table of short entries is flat", () => {
  const entries = repeat((index) => `    entry${index}: (value) => run(value),`);
  expect(isFlat(`  return {\n${entries}\n  };`)).toBe(true);
  expect(isFlat(`  return [\n${repeat((index) => `    ${index},`)}\n  ];`)).toBe(true);
});

it("A list of statements is not flat", () => {
  expect(isFlat(repeat((index) => `  run${index}();`))).toBe(false);
});

it("A statement before a switch or a table makes the function not flat", () => {
  expect(isFlat("  run();\n  return { one: 1 };")).toBe(false);
  expect(isFlat("  if (value) return 1;\n  switch (value) {\n    default:\n  }")).toBe(false);
});

it("A long case makes the switch not flat", () => {
  const statements = Array.from({ length: 10 }, () => "      run();").join("\n");
  expect(isFlat(`  switch (value) {\n    case 1:\n${statements}\n  }`)).toBe(false);
});

it("A loop or a switch inside an entry makes the table not flat", () => {
  const list = (statement: string) => `  return {\n    list() {\n      ${statement}\n    },\n  };`;
  expect(isFlat(list("run();"))).toBe(true);
  expect(isFlat(list("for (const item of items) run(item);"))).toBe(false);
  expect(isFlat(list("switch (value) {}"))).toBe(false);
});
