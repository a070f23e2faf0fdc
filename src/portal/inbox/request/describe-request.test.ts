import { describe, expect, it } from "vitest";
import {
  createAsk,
  createPath,
  createQuestion,
  createRequest,
} from "../../../../test/support/portal/inbox-items.ts";
import {
  describeConsequence,
  describePathLocation,
  describeRequest,
  describeRule,
  describeVotes,
  describeRepeats,
  listLabels,
  listWarnings,
} from "./describe-request.ts";
import { getCommand, nameRequest } from "./open-request.ts";

const shell = createRequest({
  action: "shell",
  input: { command: "npm test\n  -- --watch" },
  decision: createAsk({ tool: "shell", kind: "execute", command: "npm test -- --watch" }),
});

describe("The sentence of a request", () => {
  it.each([
    ["a file", createRequest(), "Edit README.md?"],
    ["a command", shell, "Run “npm test …”?"],
    ["a repeated attempt", createRequest({ attempt: 2 }), "Edit README.md again?"],
    [
      "several paths",
      createRequest({ decision: createAsk({ paths: ["a", "b", "c"].map(createPath) }) }),
      "Edit a and 2 other paths?",
    ],
    [
      "an address",
      createRequest({
        decision: createAsk({ kind: "fetch", method: "POST", urls: ["https://example.com/a"] }),
      }),
      "POST https://example.com/a?",
    ],
    [
      "a tool of an MCP server",
      createRequest({
        decision: createAsk({ kind: "other", mcpServer: "github", mcpTool: "create_issue" }),
      }),
      "Call create_issue of github?",
    ],
    ["a request without a decision", { ...createRequest(), decision: undefined }, "write_file?"],
    [
      "an interrupted tool",
      createRequest({ question: "outcome" }),
      "write_file was interrupted. What happened?",
    ],
    [
      "a lost response",
      createRequest({ question: "lost-invocation", action: "The connection was lost" }),
      "The connection was lost.",
    ],
    ["a question", createQuestion({ text: "Which city?" }), "Which city?"],
  ] as const)("Names %s", (_, request, sentence) => {
    const { decision, ...others } = request;
    expect(describeRequest({ ...others, ...(decision !== undefined && { decision }) })).toBe(
      sentence,
    );
  });

  it("A long command is shortened in the sentence and whole in the details", () => {
    const command = `echo ${"x".repeat(300)}`;
    const request = createRequest({ input: { command }, decision: createAsk({ command }) });
    expect(describeRequest(request).length).toBeLessThan(110);
    expect(getCommand(request)).toBe(command);
  });

  it("The command is shown with the line breaks that the policy collapses", () => {
    expect(getCommand(shell)).toBe("npm test\n  -- --watch");
  });

  it("An attempt after an interruption says that the tool may already have run", () => {
    expect(describeConsequence(createRequest({ attempt: 2 }))).toBe(
      "This tool may already have run. Allowing runs it again.",
    );
    expect(describeConsequence(createRequest())).toBeUndefined();
  });
});

describe("The facts of a request", () => {
  it("The rule is named by its id, place and policy", () => {
    const rule = { source: "rules", action: "ask", id: "git", index: 2, layer: 1 } as const;
    expect(describeRule(rule)).toBe("Rule git (rules[2]) of policy 2");
    expect(describeRule({ ...rule, id: null, layer: 0 })).toBe("Rule rules[2]");
    expect(describeRule({ ...rule, source: "session_mode" })).toBe("The session mode asks");
  });

  it("A path outside the workspace is described as outside", () => {
    expect(describePathLocation({ ...createPath("a"), location: "outside" })).toBe(
      "outside the workspace",
    );
  });

  it("Uncertain commands, incomplete paths and repeated calls are listed", () => {
    const decision = createAsk({
      commandUnparsed: "a here-document",
      pathsUnclear: "the command names files",
      repeats: 2,
      uncountedRepeats: 5,
    });
    expect(listWarnings(createRequest({ decision }))).toEqual([
      "The command could not be read with certainty: a here-document",
      "The paths may be incomplete: the command names files",
    ]);
    expect(describeRepeats(createRequest({ decision }))).toBe(
      "At least 2 identical calls before in this session",
    );
    expect(describeRepeats(createRequest())).toBeUndefined();
  });

  it("The risk labels omit the label of every request to a person", () => {
    const decision = createAsk({}, { labels: ["approval_required", "network"] });
    expect(listLabels(createRequest({ decision }))).toEqual(["network"]);
  });

  it("Votes name the people and how many are missing", () => {
    const request = createRequest({ approvers: 3 });
    expect(describeVotes({ request, votes: [] })).toBe("3 different people must approve");
    const votes = [{ principal: "ann", decision: "allow" }] as const;
    expect(describeVotes({ request, votes })).toBe("ann approved; 2 more people must approve");
    expect(describeVotes({ request: createRequest(), votes: [] })).toBeUndefined();
  });

  it("Each kind of question has a separate name", () => {
    expect(nameRequest(createQuestion({ kind: "dual_control" }))).toBe("Dual control");
    expect(nameRequest(createQuestion({}))).toBe("Question");
    expect(nameRequest(createRequest())).toBe("Tool call");
  });
});
