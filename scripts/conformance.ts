import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collectProofs, listRequirements, renderPage } from "./conformance-pages.ts";

/** Updates the column of proofs in `docs/conformance/*.md` and prints how many requirements have a test. */

const folder = "docs/conformance";
const proofs = collectProofs(".");
for (const name of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
  const path = join(folder, name);
  const page = readFileSync(path, "utf8");
  writeFileSync(path, renderPage(page, proofs));
  const ids = listRequirements(page);
  const proven = ids.filter((id) => proofs.has(id));
  process.stdout.write(`${name}: ${proven.length} of ${ids.length} requirements have a test\n`);
}
