import type { Evidence } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isShortDiff } from "../../domain/tool-output.ts";
import type { CallToExamine, Examined } from "../tool.ts";
import { examinePaths, type Surroundings } from "./paths/examine-paths.ts";
import { editorFiles } from "./editor/editor-files.ts";
import type { EditorGate } from "./editor/editor-gate.ts";
import { previewOf, type PreimageEvidence } from "./preview-of.ts";

/** Looks where the paths of a call lead, and what an edit would change. */
export async function examineCall(
  { name, input, paths, ...call }: CallToExamine,
  surroundings: Surroundings,
  gate?: EditorGate,
): Promise<Examined> {
  const found = await examinePaths(paths, surroundings);
  const { diffs, evidence } = await previewOf(
    { name, input },
    surroundings,
    gate && editorFiles(call, gate, { readMs: READ_MS }),
  );
  const shown = diffs.filter(isShortDiff);
  return {
    paths: found,
    ...(shown.length > 0 && { diffs: shown }),
    ...(evidence.length > 0 && { evidence: evidence.map(preimage) }),
  };
}

/** Somebody is to be asked soon; without an answer there is no preview, and the question says so. */
const READ_MS = 5000;

function preimage({ path, ...facts }: PreimageEvidence): Evidence {
  const metadata: JsonObject = JSON.parse(JSON.stringify(facts));
  return { kind: "file_preimage", ref: path, metadata };
}
