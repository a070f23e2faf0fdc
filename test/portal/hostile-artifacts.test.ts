import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import { LOCAL } from "../support/acp/steering-world.ts";
import { appendToLog, createStoredArtifact } from "../support/session/append-to-log.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openSessions,
  readUntil,
} from "../support/session/session-world.ts";

/** Serves a session with events of an earlier process. */
async function startApi(events: readonly SessionEvent[] = []) {
  const store = createMemoryStore();
  const forge = createTool({ name: "forge" }, (_, { toolCallId, attempt }) => ({
    _type: "artifact",
    artifactId: `blob_${toolCallId}_${attempt}`,
    kind: "mermaid",
    spec: { code: `<script>${"x".repeat(100_000)}</script>` },
  }));
  const provider = createScriptedProvider([wants({ id: "c1", name: "forge" }), says("Done.")]);
  const agent = createAgent({ provider, tools: [forge] });
  const past = openSessions(store, agent);
  const { sessionId } = await past.open({ principal: LOCAL });
  await past.close();
  await appendToLog(store, sessionId, events);
  const sessions = openSessions(store, agent);
  onTestFinished(() => sessions.close());
  const { url } = await startAcpServer(sessions);
  const get = (path: string) =>
    fetch(`${url}/api/sessions/${sessionId}/${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
  return { sessions, sessionId, get };
}

interface ArtifactPage {
  readonly artifacts: readonly { readonly artifactId: string }[];
  readonly next: number | null;
}

describe("Lists of artifacts", () => {
  it("10,000 artifacts are listed in pages of 200, each artifact once and in order", async () => {
    const count = 10_000;
    const { get } = await startApi(
      Array.from({ length: count }, (_, at) => createStoredArtifact(at)),
    );
    const ids: string[] = [];
    const sizes = new Set<number>();
    for (let after: number | null = 0; after !== null;) {
      const page: ArtifactPage = JSON.parse(await (await get(`artifacts?after=${after}`)).text());
      ids.push(...page.artifacts.map(({ artifactId }) => artifactId));
      sizes.add(page.artifacts.length);
      after = page.next;
    }
    expect(ids).toEqual(Array.from({ length: count }, (_, at) => `artifact_past_${at}`));
    expect([...sizes]).toEqual([200, 0]);
  });

  it("A page with large artifacts ends early", async () => {
    const fallback = "f".repeat(60_000);
    const { get } = await startApi(
      Array.from({ length: 40 }, (_, at) => createStoredArtifact(at, { fallback })),
    );
    const text = await (await get("artifacts")).text();
    expect(text.length).toBeLessThan(1_100_000);
    const first: ArtifactPage = JSON.parse(text);
    const rest = await get(`artifacts?after=${first.next}`);
    const second: ArtifactPage = JSON.parse(await rest.text());
    expect(first.artifacts.length + second.artifacts.length).toBeGreaterThan(30);
    expect(second.artifacts[0]?.artifactId).toBe(`artifact_past_${first.artifacts.length}`);
  });

  it.each(["-1", "1e3", "x", "9".repeat(16), "1;2", "%00"])(
    "The position %s is refused",
    async (after) => {
      const { get } = await startApi();
      expect((await get(`artifacts?after=${after}`)).status).toBe(400);
    },
  );
});

describe("Downloads of artifacts with hostile ids", () => {
  it.each([
    "..%2f..%2f..%2fetc%2fpasswd",
    "artifact_%00",
    "artifact_x%0d%0aset-cookie:%20a=b",
    'artifact_%22;filename="x.html',
    "artifact_..%5c..%5cx",
    `artifact_${"a".repeat(4000)}`,
    "artifact_%E2%80%AEgnp.exe",
  ])("The id %s is not found, and changes no header", async (id) => {
    const { get } = await startApi();
    const response = await get(`artifacts/${id}`);
    expect(response.status).toBe(404);
    const headers = Object.fromEntries(response.headers);
    expect(headers).not.toHaveProperty("set-cookie");
    expect(headers).not.toHaveProperty("content-disposition");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  it("The output of a tool is not an artifact, whatever its content claims", async () => {
    const { sessions, sessionId, get } = await startApi();
    const content = [{ type: "text", text: "Go" }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, { principal: LOCAL });
    const log = await readUntil(sessions, sessionId, ({ event }) => event.type === "turn.finished");
    const [blobId] = log.flatMap(({ event }) =>
      event.type === "tool.finished" ? [event.blobId ?? ""] : [],
    );
    expect((await get(`blobs/${blobId}`)).status).toBe(200);
    expect((await get(`artifacts/${blobId}`)).status).toBe(404);
  });
});
