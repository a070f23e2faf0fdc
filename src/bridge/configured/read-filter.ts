import type { Policy } from "../../domain/policy/policy.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import type { FoundFile } from "../../tools/workspace/workspace.ts";

/** Whether a policy lets a file be read that no call names, such as one that a search comes past. */
export function createReadFilter(policy: Policy): (file: FoundFile) => boolean {
  return ({ workspacePath, hostPath }) => {
    const location = workspacePath === null ? "outside" : "inside";
    const path = workspacePath ?? hostPath;
    const context = {
      tool: "read_file",
      kind: "read",
      sideEffect: "read_only",
      capabilities: ["workspace.read_text"],
      paths: [{ argument: "path", input: path, location, workspacePath, hostPath }],
      repeats: 0,
    } as const;
    return evaluatePolicy(policy, context, { path }).action !== "deny";
  };
}
