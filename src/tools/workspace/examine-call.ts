import type { Evidence } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isShortDiff } from "../../domain/tool-output.ts";
import type { CallToExamine, Examined } from "../tool.ts";
import { examinePaths, type Surroundings } from "./paths/examine-paths.ts";
import { previewOf, type PreimageEvidence } from "./preview-of.ts";

/** Looks where the paths of a call lead, and what an edit would change. */
export async function examineCall(
  { name, input, paths }: CallToExamine,
  surroundings: Surroundings,
): Promise<Examined> {
  const found = await examinePaths(paths, surroundings);
  const { diffs, evidence } = await previewOf(name, input, surroundings);
  const shown = diffs.filter(isShortDiff);
  return {
    paths: found,
    ...(shown.length > 0 && { diffs: shown }),
    ...(evidence.length > 0 && { evidence: evidence.map(preimage) }),
  };
}

function preimage({ path, ...facts }: PreimageEvidence): Evidence {
  const metadata: JsonObject = JSON.parse(JSON.stringify(facts));
  return { kind: "file_preimage", ref: path, metadata };
}
