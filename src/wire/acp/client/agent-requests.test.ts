import type { ContentBlock, NewSessionRequest, PromptRequest } from "@agentclientprotocol/sdk";
import { describe, expect, expectTypeOf, it } from "vitest";
import { decodeMcpServers } from "../decode/decode-mcp-servers.ts";
import { encodeNewSessionRequest, encodePromptRequest } from "./agent-requests.ts";
import type { PromptBlock } from "./prompt-block.ts";

describe("Client requests to an agent", () => {
  it("A new session request encodes MCP servers and folders in ACP's format", () => {
    const { params } = encodeNewSessionRequest({
      workingDirectory: "/work",
      folders: ["/library"],
      servers: [
        { name: "files", command: "files", args: ["-v"], env: { KEY: "1" } },
        { name: "plain", command: "plain" },
        { type: "http", name: "web", url: "https://web.test", headers: { accept: "*" } },
        { type: "sse", name: "old", url: "https://old.test" },
      ],
    });
    const expectedRequest: NewSessionRequest & {
      readonly additionalDirectories: readonly string[];
    } = {
      cwd: "/work",
      additionalDirectories: ["/library"],
      mcpServers: [
        { name: "files", command: "files", args: ["-v"], env: [{ name: "KEY", value: "1" }] },
        { name: "plain", command: "plain", args: [], env: [] },
        {
          type: "http",
          name: "web",
          url: "https://web.test",
          headers: [{ name: "accept", value: "*" }],
        },
        { type: "sse", name: "old", url: "https://old.test", headers: [] },
      ],
    };
    expect(params).toEqual(expectedRequest);
    expect(decodeMcpServers(expectedRequest.mcpServers.slice(0, 3))).toMatchObject({ ok: true });
    expect(encodeNewSessionRequest({ workingDirectory: "/work" }).params).toEqual({
      cwd: "/work",
      mcpServers: [],
    });
  });

  it("A prompt request accepts every block type of ACP", () => {
    const blocks: readonly PromptBlock[] = [
      { type: "text", text: "Look" },
      { type: "image", data: "AA==", mimeType: "image/png", uri: "file:///a.png" },
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///b", name: "b", size: 1 },
      { type: "resource", resource: { uri: "file:///c", text: "c" }, _meta: { own: 1 } },
      { type: "resource", resource: { uri: "file:///d", blob: "AA==", mimeType: "x/y" } },
    ];
    expectTypeOf<PromptBlock["type"]>().toEqualTypeOf<ContentBlock["type"]>();
    const expectedRequest: PromptRequest = { sessionId: "s", prompt: [...blocks] };
    expect(encodePromptRequest("s", blocks).params).toEqual(expectedRequest);
  });
});
