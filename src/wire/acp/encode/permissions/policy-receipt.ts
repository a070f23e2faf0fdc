import type {
  PathFact,
  PolicyContext,
  PolicyDecision,
} from "../../../../domain/policy/policy-decision.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";

/** Encodes a policy decision as a `harn.permission_policy_decision.v1` receipt. */
export function encodePolicyReceipt(decision: PolicyDecision): object {
  const { action, reason, rule, labels, context, approvers, approval } = decision;
  return {
    type: "harn.permission_policy_decision.v1",
    action,
    reason,
    matched_rule: rule,
    risk_labels: labels,
    ...(action === "ask" && { required_approval: { approvers, ...approval } }),
    context: encodePolicyContext(context),
  };
}

function encodePolicyContext(context: PolicyContext): object {
  const { tool, kind, sideEffect, paths, capabilities, command, simpleCommands } = context;
  const { urls, domains, method, mcpServer, mcpTool, repeats } = context;
  return {
    tool_name: tool,
    tool_kind: kind,
    side_effect: sideEffect,
    paths: paths.map(encodePathFact),
    capabilities,
    ...omitUndefined({ command }),
    ...(simpleCommands !== undefined && {
      command_identities: simpleCommands.map(({ program }) => program),
    }),
    ...omitUndefined({ urls, domains }),
    ...(method !== undefined && { http_methods: [method] }),
    ...(mcpServer !== undefined && { mcp_servers: [mcpServer] }),
    ...(mcpTool !== undefined && { mcp_tools: [mcpTool] }),
    repeat_count: repeats,
  };
}

function encodePathFact({ input, location, workspacePath, hostPath, reason }: PathFact): object {
  return {
    input,
    kind: location,
    workspace_path: workspacePath,
    host_path: hostPath,
    ...omitUndefined({ reason }),
  };
}
