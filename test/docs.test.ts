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

  it("Every example uses the default port of the server", () => {
    const asked = pages.flatMap((page) => [...read(page).matchAll(/127\.0\.0\.1:(\d+)\/v1\b/g)]);
    expect(new Set(asked.map(([, port]) => port))).toEqual(new Set(["4777"]));
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
