import {
  ARTIFACT_KINDS,
  ARTIFACT_LIMITS,
  EMIT_ARTIFACT_TOOL,
} from "../../domain/outputs/artifact.ts";
import { readArtifactRequest } from "../../domain/outputs/read-artifact.ts";
import type { JsonObject } from "../../data/json.ts";
import { createToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { createRuntimeTool } from "./create-runtime-tool.ts";

/** Creates the tool `emit_artifact`, which shows a table, a chart, a diagram or a reference to people. */
export function createEmitArtifactTool(): Tool {
  return createRuntimeTool({
    name: EMIT_ARTIFACT_TOOL,
    description:
      "Shows the user a table, a chart (vega-lite), a diagram (mermaid), a reference to a file, or a list of references " +
      "(artifact_manifest). The user can also download the artifact. Include all data in the spec: " +
      "references to web pages are refused.",
    schema: ARTIFACT_SCHEMA,
    findProblem: (input) => {
      const artifact = readArtifactRequest(input);
      return artifact.ok ? undefined : artifact.problem;
    },
    run(input) {
      const read = readArtifactRequest(input);
      // Unreachable: `findProblem` has accepted the arguments.
      if (!read.ok) throw new Error(read.problem);
      const { artifact } = read;
      const text = `The ${artifact.kind} artifact is shown to the user (${artifact.sizeBytes} bytes).`;
      return createToolOutput({ text, emissions: [{ type: "artifact", artifact }] });
    },
  });
}

const ARTIFACT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    kind: { type: "string", enum: [...ARTIFACT_KINDS] },
    spec: {
      type: ["object", "string"],
      description:
        "table: { columns: [names], rows: [arrays or objects] }. mermaid: the code. vega-lite: the chart. " +
        "file: { uri, name, mime_type, size_bytes, sha256, description } with a uri of file:, artifact: or urn:. " +
        "artifact_manifest: { summary, artifacts: [files] }",
    },
    title: { type: "string", maxLength: ARTIFACT_LIMITS.title },
    fallback: {
      type: "string",
      description: "The artifact as text. Default: created from the spec",
    },
    metadata: { type: "object" },
    provenance: { type: "object", description: "Sources of the data" },
    max_bytes: {
      type: "integer",
      minimum: 1,
      maximum: ARTIFACT_LIMITS.hardSpec,
      description: `Limit of the spec; default: ${ARTIFACT_LIMITS.spec}`,
    },
  },
  required: ["kind", "spec"],
  additionalProperties: false,
};
