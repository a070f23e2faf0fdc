import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIAGNOSTIC_CODES } from "../src/domain/diagnostic.ts";
import { ERROR_CODES } from "../src/domain/errors.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The codes in the first column of the table below a heading. */
function codesUnder(page: string, heading: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  return [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1] ?? "");
}

/** The sentences of a page, without its code. A table cell and a list item end a sentence. */
function listSentences(page: string): string[] {
  return page
    .replace(/^(```)[\s\S]*?^\1/gm, "\n\n")
    .replace(/`[^`]*`/g, "Code")
    .split(/\n\s*\n|\||^\s*(?:[-*]|\d+\.|#+)\s/m)
    .flatMap((block) => block.split(/(?<=[.!?])\)?\s+(?=[A-Z("*])/))
    .map((sentence) => sentence.trim());
}

function countWords(sentence: string): number {
  const text = sentence.replace(/\]\([^)]*\)/g, "");
  return text.split(/\s+/).filter((word) => /[a-z0-9]/i.test(word)).length;
}

describe("docs/errors.md", () => {
  const page = read("docs/errors.md");

  it("docs/errors.md lists exactly the error codes", () => {
    expect(codesUnder(page, "Error codes")).toEqual([...ERROR_CODES]);
  });

  it("docs/errors.md lists exactly the diagnostic codes", () => {
    expect(codesUnder(page, "Diagnostic codes").sort()).toEqual([...DIAGNOSTIC_CODES].sort());
  });
});

describe("docs/dependencies.md", () => {
  it("docs/dependencies.md has a line for every dependency and no other line", () => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(read("package.json"));
    const listed = [...read("docs/dependencies.md").matchAll(/^\| `([^`]+)` \|/gm)].map(
      (match) => match[1] ?? "",
    );
    expect(listed.sort()).toEqual(
      [...Object.keys(dependencies), ...Object.keys(devDependencies)].sort(),
    );
  });
});

describe("Pages in docs", () => {
  const pages = ["docs", "docs/editors"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  );

  it("No page shows the digest of a key", () => {
    const digests = pages.filter((page) => /sha256["']?: ["']?[0-9a-f]{64}\b/i.test(read(page)));
    expect(digests).toEqual([]);
  });

  it("Every page has an example, a table and a section about limits", () => {
    const parts = [/^```/m, /^\|/m, /^#+ .*limit/im];
    const incomplete = pages.filter((page) => !parts.every((part) => part.test(read(page))));
    expect(incomplete).toEqual([]);
  });

  it("No sentence has more than 30 words", () => {
    const decisions = readdirSync(join(root, "docs/decisions")).map(
      (name) => `docs/decisions/${name}`,
    );
    const others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    const long = [...pages, ...decisions, ...others].flatMap((page) =>
      listSentences(read(page))
        .filter((sentence) => countWords(sentence) > 30)
        .map((sentence) => `${page}: ${sentence}`),
    );
    expect(long).toEqual([]);
  });

  it("Every example uses the default port of the server", () => {
    const portMatches = pages.flatMap((page) => [
      ...read(page).matchAll(/127\.0\.0\.1:(\d+)\/v1\b/g),
    ]);
    expect(new Set(portMatches.map(([, port]) => port))).toEqual(new Set(["4777"]));
  });

  it("Every link target exists and is part of the package", () => {
    const { files } = JSON.parse(read("package.json"));
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) =>
        join(dirname(page), match[1] ?? ""),
      ),
    );
    expect(links.length).toBeGreaterThan(3);
    const isPacked = (path: string): boolean =>
      ["README.md", ...files].some((file) => path === file || path.startsWith(`${file}/`));
    expect(links.filter((path) => !isPacked(path) || !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("Lock file", () => {
  it("The lock file names no registry host", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved"/);
  });
});
