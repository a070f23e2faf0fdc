import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectProofs, listRequirements, renderPage } from "../scripts/conformance-pages.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs/conformance");
const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
const pages = names.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
const proofs = collectProofs(root);

describe("docs/conformance", () => {
  it.each(pages)(
    "$name lists the current tests: `npm run conformance` changes nothing",
    ({ text }) => {
      expect(renderPage(text, proofs)).toBe(text);
    },
  );

  it("Every id in a test title is a listed requirement", () => {
    const listed = new Set(pages.flatMap(({ text }) => listRequirements(text)));
    expect([...proofs.keys()].filter((id) => !listed.has(id))).toEqual([]);
  });

  it("No requirement is listed twice", () => {
    const listed = pages.flatMap(({ text }) => listRequirements(text));
    expect(listed.filter((id, index) => listed.indexOf(id) !== index)).toEqual([]);
  });

  it("A requirement without a test is reported as not yet proven", () => {
    const page = "| B-001 | Text | old |\n| B-002 | Text | not applicable: a reason |\n";
    const rendered = renderPage(page, new Map([["B-001", []]]));
    expect(rendered).toBe(
      "| B-001 | Text | not yet |\n| B-002 | Text | not applicable: a reason |\n",
    );
  });

  it("An id in a comment does not count as a proof", () => {
    // This comment names [ZZ-999].
    const id = ["ZZ", "999"].join("-");
    expect(proofs.has(id)).toBe(false);
  });
});
