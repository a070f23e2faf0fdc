import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

interface Row {
  readonly folder: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly specifiers: readonly string[];
}

/** Files by path below the root. */
export interface Overlay {
  readonly [path: string]: string;
}

/**
 * Compares the sources below a root with its ARCHITECTURE.md. Returns one sentence per violation. The files of the
 * overlay are checked as if they were on the disk, so a test can plant a violation without a copy of the tree.
 */
export function checkArchitecture(root: string, overlay: Overlay = {}): string[] {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const rows = readTable(page);
  const planted = Object.entries(overlay).map(([path, text]) => toSource(path, text));
  const sources = [...readSources(root), ...planted];
  return [
    ...sources.flatMap((source) => checkImports(source, rows)),
    ...findCycles(sources),
    ...checkWords(sources, page),
  ];
}

function readTable(page: string): Row[] {
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `src/"))
    .flatMap((line) => {
      const [, folders = "", , imports = "", packages = ""] = line.split("|");
      return readQuoted(folders).map((folder) => ({
        folder,
        imports: [...readQuoted(imports), ...HELPERS],
        packages: readQuoted(packages),
      }));
    });
  if (rows.length < 5) throw new Error("ARCHITECTURE.md does not have a table of folders");
  return rows;
}

/** Pure helpers that every folder may import. */
const HELPERS = ["src/data", "src/text"];

function readQuoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}

function readSources(root: string): Source[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join("src", path.replaceAll("\\", "/")))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".test.ts"))
    .sort()
    .map((path) => toSource(path, readFileSync(join(root, path), "utf8")));
}

function toSource(path: string, text: string): Source {
  return { path, text, specifiers: findSpecifiers(text) };
}

function findSpecifiers(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  // A statement starts a line; a message such as `import it from "x"` inside a string does not.
  const pattern =
    /(?:^\s*(?:import|export)\s[^;"'`]*?\bfrom\s*|^\s*import\s*|\bimport\s*\(\s*)"([^"\n]+)"/gm;
  return [...code.matchAll(pattern)].map((match) => match[1] ?? "");
}

function checkImports(source: Source, rows: readonly Row[]): string[] {
  const own = findRow(source.path, rows);
  if (own === undefined) return [`${source.path} is in no folder of ARCHITECTURE.md`];
  return source.specifiers.flatMap((specifier) => {
    if (!specifier.startsWith(".")) {
      const name = readPackageName(specifier);
      const allowed = own.packages.includes(name);
      return allowed
        ? []
        : [`${source.path} uses the package "${name}", which ${own.folder} may not`];
    }
    const target = resolveSpecifier(source.path, specifier);
    // A subfolder with its own row is not part of the folder around it.
    const isOwn = findRow(target, rows) === own;
    const allowed = isOwn || own.imports.some((folder) => isInside(target, folder));
    return allowed ? [] : [`${source.path} imports ${target}, which ${own.folder} may not`];
  });
}

function findRow(path: string, rows: readonly Row[]): Row | undefined {
  return rows
    .filter((row) => isInside(path, row.folder))
    .sort((left, right) => right.folder.length - left.folder.length)[0];
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function readPackageName(specifier: string): string {
  if (specifier.startsWith("node:")) return "node";
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

function resolveSpecifier(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** Type-only imports count too, because they couple files for a reader just as much. */
function findCycles(sources: readonly Source[]): string[] {
  const graph = new Map(
    sources.map(({ path, specifiers }) => [
      path,
      specifiers.filter((one) => one.startsWith(".")).map((one) => resolveSpecifier(path, one)),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  function visit(path: string, trail: readonly string[]): void {
    const seen = trail.indexOf(path);
    if (seen !== -1) {
      cycles.push(`${[...trail.slice(seen), path].join(" → ")} is a cycle`);
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  }
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

/** Each paragraph of the section on vendor terms names terms and the folders where they are allowed. */
function checkWords(sources: readonly Source[], page: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith("Vendor terms")) ?? "";
  const rules = section
    .split(/\n\n/)
    .slice(1)
    .map((paragraph) => {
      const names = readQuoted(paragraph);
      return {
        places: names.filter((name) => name.startsWith("src/")),
        words: names.filter((name) => !name.startsWith("src/")),
      };
    });
  if (rules.length < 2) throw new Error("ARCHITECTURE.md has no rules on words");
  return sources.flatMap(({ path, text }) =>
    rules
      .filter(({ places }) => !places.some((place) => isInside(path, place)))
      .flatMap(({ places, words }) =>
        words
          .filter((word) => containsWord(text, word))
          .map((word) => `${path} says "${word}", which stays in ${places.join(" and ")}`),
      ),
  );
}

function containsWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w.])${word.replaceAll(".", "\\.")}(?!\\w)`).test(text);
}
