import { describe, expect, it } from "vitest";
import { createEmitArtifactTool } from "../../../src/tools/runtime/emit-artifact-tool.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import { connectAcpClient } from "../../support/acp/acp-client.ts";
import { findHarnUpdates, promptOnce } from "../../support/acp/harn-updates.ts";
import { ACP_TRANSPORTS } from "../../support/acp/transports.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

const TABLE = {
  kind: "table",
  title: "Sales",
  spec: { columns: ["region", "count"], rows: [["north", 2]] },
  metadata: { quarter: "Q3" },
  provenance: { source: "crm" },
};

const LARGE = {
  kind: "table",
  spec: {
    columns: ["text"],
    rows: Array.from({ length: 400 }, (_, at) => [`${at} ${"x".repeat(200)}`]),
  },
};

const emits = (...inputs: readonly object[]) => [
  ...inputs.map((input, at) =>
    wants({ id: `c${at}`, name: "emit_artifact", input: JSON.parse(JSON.stringify(input)) }),
  ),
  says("Done."),
];

describe.each(ACP_TRANSPORTS)("Artifacts over %s", (_, connect) => {
  it("An artifact is sent with exactly the documented fields [B-034]", async () => {
    const { sessions, readLog } = createClientToolSessions(emits(TABLE), {
      tools: [createEmitArtifactTool()],
    });
    const client = await connect(sessions);
    const sessionId = await promptOnce(client);
    const events = (await readLog(sessionId)).map(({ event }) => event);
    const emitted = events.find((event) => event.type === "artifact.emitted");
    const toolCallId = events.flatMap((event) =>
      event.type === "tool_call.received" ? [event.toolCallId] : [],
    )[0];
    expect(findHarnUpdates(client, "artifact").map((update) => formatSortedJson(update))).toEqual([
      formatSortedJson({
        sessionUpdate: "artifact",
        _meta: {
          harn: {
            artifactId: emitted?.artifactId,
            kind: "table",
            title: "Sales",
            mimeType: "application/vnd.harn.table+json",
            spec: TABLE.spec,
            fallback: "region | count\nnorth | 2",
            sizeBytes: JSON.stringify(TABLE.spec).length,
            provenance: { source: "crm", tool: "emit_artifact", toolCallId },
            metadata: { quarter: "Q3" },
          },
        },
      }),
    ]);
  });
});

describe("Downloads of artifacts", () => {
  async function createServer(...inputs: readonly object[]) {
    const { sessions } = createClientToolSessions(emits(...inputs), {
      tools: [createEmitArtifactTool()],
    });
    const client = await connectAcpClient(sessions);
    const sessionId = await promptOnce(client);
    const { url } = await startAcpServer(sessions);
    const read = (path: string, token = TOKEN) =>
      fetch(`${url}/api/sessions/${sessionId}/artifacts${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
    const list = async (): Promise<readonly { artifactId: string }[]> =>
      JSON.parse(await (await read("")).text()).artifacts;
    return { client, sessionId, read, list };
  }

  it("A large spec is sent as a reference, and the download has the whole spec as a safe attachment", async () => {
    const { client, read, list } = await createServer(LARGE);
    const [update] = findHarnUpdates(client, "artifact");
    const [entry] = await list();
    const id = entry?.artifactId ?? "";
    expect(update).toMatchObject({ _meta: { harn: { spec: { $ref: `artifact:${id}` } } } });
    const response = await read(`/${id}`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-disposition": `attachment; filename="${id}.json"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect(JSON.parse(await response.text())).toEqual(LARGE.spec);
    expect((await read(`/${id}`, "wrong")).status).toBe(401);
    expect((await read("/artifact_other")).status).toBe(404);
  });

  it("A diagram is downloaded as plain text, and a blob which is no artifact is not served", async () => {
    const { read, list } = await createServer({ kind: "mermaid", spec: "graph TD\nA-->B" });
    const [entry] = await list();
    const response = await read(`/${entry?.artifactId ?? ""}`);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe("graph TD\nA-->B");
    expect((await read("?after=x")).status).toBe(400);
    expect(JSON.parse(await (await read("?after=999")).text())).toEqual({
      artifacts: [],
      next: null,
    });
  });
});
