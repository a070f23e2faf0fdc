import { join } from "node:path";
import type { Policy } from "../../domain/policy.ts";
import { judge } from "../../policy/judge.ts";

/** Whether a policy lets a file be read that no call names, such as one that a search comes past. */
export function readableBy(policy: Policy, root: string): (path: string) => boolean {
  return (path) => {
    const found = { place: "inside", workspacePath: path, hostPath: join(root, path) } as const;
    const context = {
      tool: "read_file",
      kind: "read",
      sideEffect: "read_only",
      capabilities: ["workspace.read_text"],
      paths: [{ argument: "path", input: path, ...found }],
      repeats: 0,
    } as const;
    return judge(policy, context, { path }).action !== "deny";
  };
}
