import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** A test or benchmark with a requirement id in its title. */
export interface Proof {
  /** Path from the project's root. */
  readonly file: string;
  /** Title without the ids. For the row of a table test: the string with the id. */
  readonly title: string;
}

/** Folders with tests and benchmarks. */
const FOLDERS = ["src", "test", "examples", "bench"];
const SKIPPED = /(^|\/)(node_modules|\.build|fixtures|captures)(\/|$)/;
/** One or more ids in square brackets, such as `[B-001]` or `[ACP-20, W-03]`. */
const IDS = /\[((?:[A-Z]+-[A-Z0-9-]*\d+)(?:[ ,]+[A-Z]+-[A-Z0-9-]*\d+)*)\]/g;
/** A table row: id, requirement, proof. */
const ROW = /^\| ([A-Z]+-[A-Z0-9-]*\d+) \| (.*) \| (.*) \|$/;
const MAX_PROOFS = 3;

/**
 * Finds the tests for each requirement. String literals are read from the syntax tree, so an id in a comment does not
 * count.
 */
export function collectProofs(root: string): Map<string, Proof[]> {
  const proofs = new Map<string, Proof[]>();
  for (const file of listTestFiles(root)) {
    for (const text of listStrings(file, readFileSync(join(root, file), "utf8"))) {
      const ids = [...text.matchAll(IDS)].flatMap(([, list = ""]) => list.split(/[ ,]+/));
      const title = text.replace(IDS, "").replace(/\s+/g, " ").trim();
      for (const id of ids) proofs.set(id, [...(proofs.get(id) ?? []), { file, title }]);
    }
  }
  return proofs;
}

/**
 * Rewrites the last column of every requirement in a page. A requirement without a proof becomes "not yet", unless the
 * page says "not applicable" with a reason.
 */
export function renderPage(page: string, proofs: ReadonlyMap<string, readonly Proof[]>): string {
  return page
    .split("\n")
    .map((line) => {
      const [, id, requirement, last = ""] = ROW.exec(line) ?? [];
      if (id === undefined) return line;
      return `| ${id} | ${requirement} | ${formatProofs(proofs.get(id) ?? [], last)} |`;
    })
    .join("\n");
}

/** Ids of the requirements in a page. */
export function listRequirements(page: string): string[] {
  return page.split("\n").flatMap((line) => ROW.exec(line)?.[1] ?? []);
}

function formatProofs(proofs: readonly Proof[], last: string): string {
  if (proofs.length === 0) return last.startsWith("not applicable: ") ? last : "not yet";
  const shownProofs = proofs
    .slice(0, MAX_PROOFS)
    .map(({ file, title }) => `${title.replaceAll("|", "\\|")} (\`${file}\`)`);
  const rest = proofs.length - shownProofs.length;
  return [...shownProofs, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

function listTestFiles(root: string): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((path) => `${folder}/${path}`)
      .filter((path) => !SKIPPED.test(path))
      .filter((path) => path.endsWith(".test.ts") || /^bench\/rows\/.*\.ts$/.test(path)),
  ).sort();
}

function listStrings(file: string, source: string): string[] {
  const strings: string[] = [];
  new Visitor({
    Literal({ value }) {
      if (typeof value === "string") strings.push(value);
    },
    TemplateElement({ value }) {
      strings.push(value.cooked ?? value.raw);
    },
  }).visit(parseSync(file, source).program);
  return strings.filter((text) => text.match(IDS) !== null);
}
