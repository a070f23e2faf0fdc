import { describe, expect, it } from "vitest";
import { findAcpProblems } from "./acp-schema.ts";

function update(fields: object): object {
  const params = { sessionId: "s", update: fields };
  return { jsonrpc: "2.0", method: "session/update", params };
}

describe("Validation of ACP messages", () => {
  it("A message is validated against the schema of v0.12.2 and the newest schema [ACP-135] [ACP-136] [B-016]", () => {
    const problems = findAcpProblems(update({ sessionUpdate: "agent_message_chunk" })).join("\n");
    expect(problems).toContain("v0.12.2: session/update/update");
    expect(problems).toContain("newest: session/update/update");
  });

  it("A later update is validated only against the newest schema, and vendor methods are not validated", () => {
    const notice = { sessionUpdate: "notice", severity: "warning", title: "Slow" };
    expect(findAcpProblems(update(notice))).toEqual([]);
    expect(findAcpProblems(update({ ...notice, severity: 1 })).join()).not.toContain("v0.12.2");
    expect(findAcpProblems(update({ ...notice, severity: 1 }))).not.toEqual([]);
    expect(findAcpProblems(update({ sessionUpdate: "progress" }))).not.toEqual([]);
    expect(findAcpProblems({ jsonrpc: "2.0", method: "session/unheard" })).not.toEqual([]);
    expect(findAcpProblems({ jsonrpc: "2.0", method: "_harn/agentEvent" })).toEqual([]);
  });
});
