import type { Evidence } from "../../domain/events/approval-events.ts";
import type { JsonObject } from "../../data/json.ts";
import { isShortDiff } from "../../domain/tools/tool-output.ts";
import type { ToolCallToExamine, Examination } from "../tool.ts";
import { examinePaths, type WorkspacePaths } from "./paths/examine-paths.ts";
import { createEditorFiles } from "./editor/editor-files.ts";
import type { EditorGate } from "./editor/editor-gate.ts";
import { previewEdit, type PreimageEvidence } from "./preview-edit.ts";

/** Resolves the paths of a tool call and previews its edit. */
export async function examineToolCall(
  { name, input, paths, ...call }: ToolCallToExamine,
  context: WorkspacePaths,
  gate?: EditorGate,
): Promise<Examination> {
  const pathFacts = await examinePaths(paths, context);
  const { diffs, evidence } = await previewEdit(
    { name, input },
    context,
    gate && createEditorFiles(call, gate, { readMs: PREVIEW_TIMEOUT_MS }),
  );
  const shortDiffs = diffs.filter(isShortDiff);
  return {
    paths: pathFacts,
    ...(shortDiffs.length > 0 && { diffs: shortDiffs }),
    ...(evidence.length > 0 && { evidence: evidence.map(toEvidence) }),
  };
}

/**
 * Short, since a person waits for the approval request. On timeout the request contains no preview, with the reason.
 */
const PREVIEW_TIMEOUT_MS = 5000;

function toEvidence({ path, ...facts }: PreimageEvidence): Evidence {
  const metadata: JsonObject = JSON.parse(JSON.stringify(facts));
  return { kind: "file_preimage", ref: path, metadata };
}
