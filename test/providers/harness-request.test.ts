import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../src/domain/errors.ts";
import { buildTurn } from "../../src/domain/provider/turn.ts";
import { createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextTurn,
  type PeerResponder,
  type Peer,
} from "../support/server/scripted-peer.ts";
import {
  runInvocation,
  gather,
  HARNESS_ARN,
  openHarnessSession,
  TEST_KEYS,
  PROMPT,
  catchRejection,
} from "../support/session/provider-session.ts";

const { signal } = new AbortController();

function answering(): Promise<Peer> {
  return startPeer((response) => {
    startEventStream(response);
    response.end(Buffer.concat(encodeTextTurn("Hello")));
  });
}

function bodyOf(peer: Peer, at = 0): unknown {
  return JSON.parse(String(peer.requests[at]?.body));
}

function signedIn(outboundAuth: object) {
  const config = { remoteMcp: { url: "https://example.com/mcp", outboundAuth } };
  return { tools: [{ type: "remote_mcp", name: "notes", config }] };
}

describe("Requests to a harness", () => {
  it("A request goes to the harness of the ARN, with its session and only the new message [AC-45]", async () => {
    const peer = await answering();
    const session = openHarnessSession(peer.url, { qualifier: "prod" }, "s".repeat(33));
    await runInvocation(session);
    expect(peer.requests[0]).toMatchObject({
      method: "POST",
      url: `/harnesses/invoke?harnessArn=${encodeURIComponent(HARNESS_ARN)}&qualifier=prod`,
      headers: {
        "content-type": "application/json",
        "x-amzn-bedrock-agentcore-runtime-session-id": "s".repeat(33),
      },
    });
    expect(bodyOf(peer)).toEqual({ messages: [{ role: "user", content: [{ text: "Hi" }] }] });
  });

  it("Generated session ids are valid and unique [AC-56]", () => {
    const provider = harnessProvider({ harnessArn: HARNESS_ARN, credentials: TEST_KEYS });
    const ids = Array.from({ length: 100 }, () => provider.open().id);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_-]{32,99}$/);
    expect(new Set(ids).size).toBe(100);
  });

  it("Overrides of the invocation take precedence over those of the provider [RMA-P1-6]", async () => {
    const peer = await answering();
    const session = openHarnessSession(peer.url, {
      userId: "ada",
      overrides: { systemPrompt: "Be brief.", model: "us.anthropic.model", maxTokens: 10 },
    });
    await runInvocation(session, {
      overrides: {
        systemPrompt: [{ text: "Be kind." }],
        allowedTools: ["@builtin", "@search/*", "look"],
        skills: [{ path: "/skills/one" }],
        maxIterations: 3,
        timeoutSeconds: 60,
        actorId: "ada",
      },
    });
    expect(bodyOf(peer)).toEqual({
      messages: [{ role: "user", content: [{ text: "Hi" }] }],
      systemPrompt: [{ text: "Be kind." }],
      model: { bedrockModelConfig: { modelId: "us.anthropic.model" } },
      allowedTools: ["@builtin", "@search/*", "look"],
      skills: [{ path: "/skills/one" }],
      maxIterations: 3,
      maxTokens: 10,
      timeoutSeconds: 60,
      actorId: "ada",
    });
    expect(peer.requests[0]?.headers["x-amzn-bedrock-agentcore-runtime-user-id"]).toBe("ada");
  });

  it("Turn options are sent within the limits of the provider's settings [OR-57] [OR-60]", async () => {
    const peer = await answering();
    const overrides = {
      systemPrompt: "Be brief.",
      maxTokens: 100,
      allowedTools: ["@search", "look"],
    };
    const session = openHarnessSession(peer.url, { overrides });
    const allowedTools = ["look", "@search/web", "shell"];
    await runInvocation(session, { instructions: "Be kind.", maxOutputTokens: 500, allowedTools });
    expect(bodyOf(peer)).toMatchObject({
      systemPrompt: [{ text: "Be brief." }, { text: "Be kind." }],
      maxTokens: 100,
      allowedTools: ["look", "@search/web"],
    });
  });

  it("A turn without allowed tools names a tool that does not exist, because an empty list would allow all [OR-57]", async () => {
    const peer = await answering();
    const session = openHarnessSession(peer.url, { offeredTools: "replace" });
    await runInvocation(session, { allowedTools: [], maxOutputTokens: 7 });
    expect(bodyOf(peer)).toEqual({
      messages: [{ role: "user", content: [{ text: "Hi" }] }],
      allowedTools: ["@none/none"],
      maxTokens: 7,
    });
  });

  it("Trace headers are sent up to the lengths that the service accepts [AC-55]", async () => {
    const peer = await answering();
    const trace = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "vendor=1",
      traceId: "Root=1-5759e988-bd862e3fe1be46a994272793",
      baggage: "b".repeat(8192),
    };
    await runInvocation(openHarnessSession(peer.url), { trace });
    expect(peer.requests[0]?.headers).toMatchObject({
      traceparent: trace.traceparent,
      tracestate: trace.tracestate,
      "x-amzn-trace-id": trace.traceId,
      baggage: trace.baggage,
    });
    for (const [name, most] of [
      ["traceparent", 1024],
      ["tracestate", 512],
      ["traceId", 1024],
      ["baggage", 8192],
    ] as const) {
      const tooLong = { [name]: "x".repeat(most + 1) };
      const error = await catchRejection(
        runInvocation(openHarnessSession(peer.url), { trace: tooLong }),
      );
      expect(error).toMatchObject({ code: "invalid_option", details: { path: `trace.${name}` } });
    }
    expect(peer.requests).toHaveLength(1);
  });

  it("The host is derived from region and partition of the ARN [RMA-P0-11]", async () => {
    const hosts: string[] = [];
    for (const [arn] of [
      ["arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/demo-a1b2c3d4e5"],
      ["arn:aws-cn:bedrock-agentcore:cn-north-1:123456789012:harness/demo-a1b2c3d4e5"],
    ] as const) {
      const session = harnessProvider({
        harnessArn: arn,
        credentials: TEST_KEYS,
        send: (request) => {
          hosts.push(request.url.host);
          expect(request.headers["authorization"]).toContain(`/${arn.split(":")[3]}/`);
          return Promise.reject(new Error("no network here"));
        },
      }).open();
      await catchRejection(session.invoke(PROMPT, { signal }));
    }
    expect(hosts).toEqual([
      "bedrock-agentcore.eu-central-1.amazonaws.com",
      "bedrock-agentcore.cn-north-1.amazonaws.com.cn",
    ]);
  });

  it("Every request is signed with current credentials, which are read again when they expire [RMA-P1-21]", async () => {
    const peer = await answering();
    let requestCount = 0;
    let now = Date.UTC(2026, 10, 16);
    const session = openHarnessSession(peer.url, {
      clock: { ...createFakeClock(), now: () => now },
      credentials: () => {
        requestCount += 1;
        return Promise.resolve({
          accessKeyId: `KEY${requestCount}`,
          secretAccessKey: "secret",
          sessionToken: `token${requestCount}`,
          expiresAt: now + 3_600_000,
        });
      },
    });
    await runInvocation(session);
    await runInvocation(session);
    now += 3_500_000;
    await runInvocation(session);
    const tokens = peer.requests.map(({ headers }) => headers["x-amz-security-token"]);
    expect(tokens).toEqual(["token1", "token1", "token2"]);
  });

  it("A bearer token replaces the signature [AC-54]", async () => {
    const peer = await answering();
    const { harnessArn, endpoint } = { harnessArn: HARNESS_ARN, endpoint: peer.url };
    const session = harnessProvider({ harnessArn, endpoint, bearerToken: "header.claims.seal" });
    await runInvocation(session.open());
    const headers = peer.requests[0]?.headers ?? {};
    expect(headers["authorization"]).toBe("Bearer header.claims.seal");
    expect(Object.keys(headers).filter((name) => name.startsWith("x-amz-"))).toEqual([]);
  });

  it("No secret is shown if a provider, a session or an error is printed, even if the service quotes it [AC-54]", async () => {
    const peer = await startPeer((response, request) => {
      response.writeHead(403, { "x-amzn-errortype": "InvalidSignatureException" });
      response.end(JSON.stringify({ message: `No: ${JSON.stringify(request.headers)}` }));
    });
    for (const secret of [
      { credentials: { ...TEST_KEYS, sessionToken: "session-token-text" } },
      { bearerToken: "bearer-token-text" },
    ]) {
      const provider = harnessProvider({ harnessArn: HARNESS_ARN, endpoint: peer.url, ...secret });
      const session = provider.open();
      const error = await catchRejection(session.invoke(PROMPT, { signal }));
      const inspectedText = inspect([provider, session, error], { depth: 10, showHidden: true });
      expect(inspectedText).toContain("[redacted]");
      expect(inspectedText).not.toMatch(/example-secret-key|session-token-text|bearer-token-text/);
      expect(JSON.stringify(error)).not.toMatch(/secret-key|token-text/);
    }
  });

  it("A secret that the service quotes in any other form is redacted [AC-54]", async () => {
    const token = "bearer/token-text";
    const answers: PeerResponder[] = [
      (response) => {
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<p>${token}</p>`);
      },
      (response) => {
        response.writeHead(403, { "x-amzn-requestid": token });
        response.end(`{"message":"${token.replace("/", String.raw`\/`)}"}`);
      },
      (response) => {
        startEventStream(response);
        response.end(encodeAwsFrame("runtimeClientError", { message: token }, "exception"));
      },
    ];
    for (const answer of answers) {
      const peer = await startPeer(answer);
      const session = openHarnessSession(peer.url, { bearerToken: token });
      const thrownError = await runInvocation(session).catch((error: unknown) => error);
      expect(inspect(thrownError, { depth: 10 })).toContain("[redacted]");
      expect(inspect(thrownError, { depth: 10 })).not.toContain("token-text");
    }
  });

  it("Requests stay on the configured host, whatever its path [AC-54]", async () => {
    const peer = await answering();
    for (const path of ["//", "//example.com", "/prefix/"])
      await runInvocation(openHarnessSession(peer.url + path));
    expect(peer.requests.map(({ url }) => url.split("?")[0])).toEqual([
      "/harnesses/invoke",
      "//example.com/harnesses/invoke",
      "/prefix/harnesses/invoke",
    ]);
  });

  it("A failing or invalid source of credentials is reported as no_credentials", async () => {
    const peer = await answering();
    for (const secret of [
      { credentials: () => Promise.reject(new Error("locked")) },
      { bearerToken: "two\nlines" },
      { bearerToken: "" },
    ]) {
      const error = await catchRejection(runInvocation(openHarnessSession(peer.url, secret)));
      expect(error).toMatchObject({ code: "no_credentials" });
    }
    expect(peer.requests).toEqual([]);
  });

  it("Concurrent requests read credentials once, and again after a failure [RMA-P1-21]", async () => {
    const peer = await answering();
    let requestCount = 0;
    const session = openHarnessSession(peer.url, {
      credentials: () => {
        requestCount += 1;
        return requestCount === 1
          ? Promise.reject(new Error("not yet"))
          : Promise.resolve(TEST_KEYS);
      },
    });
    await catchRejection(runInvocation(session));
    await Promise.all([runInvocation(session), runInvocation(session), runInvocation(session)]);
    expect([requestCount, peer.requests.length]).toEqual([2, 3]);
  });
});

describe("Invalid requests", () => {
  const open = (options: object, sessionId?: string): unknown =>
    openHarnessSession("http://127.0.0.1:9", options, sessionId);

  it.each([
    ["harnessArn", () => open({ harnessArn: "demo" })],
    ["harnessArn", () => open({ harnessArn: HARNESS_ARN.replace("harness/", "runtime/") })],
    ["qualifier", () => open({ qualifier: "1st" })],
    ["endpoint", () => open({ endpoint: "not an address" })],
    ["endpoint", () => open({ endpoint: "ftp://example.com" })],
    ["limits.idle", () => open({ limits: { idle: Number.NaN } })],
    ["limits.total", () => open({ limits: { total: -5 } })],
    ["sessionId", () => open({}, "x".repeat(32))],
    ["sessionId", () => open({}, "x".repeat(101))],
    ["sessionId", () => open({}, `-${"x".repeat(33)}`)],
  ])("An invalid %s is refused when a session is opened [AC-50]", (path, opening) => {
    expect(opening).toThrow(SpanlineError);
    expect(opening).toThrow(`${path} is `);
  });

  it.each([
    ["model", { model: { bedrockModelConfig: {}, openAiModelConfig: {} } }],
    ["model", { model: {} }],
    ["systemPrompt[0].text", { systemPrompt: "" }],
    ["tools[0].type", { tools: [{}] }],
    ["tools[0].name", { tools: [{ type: "remote_mcp", name: "a/b" }] }],
    ["tools[0].config", { tools: [{ type: "remote_mcp", config: { remoteMcp: {}, other: {} } }] }],
    ["tools[0].config.remoteMcp.outboundAuth", signedIn({})],
    ["tools[0].config.remoteMcp.outboundAuth", signedIn({ awsIam: { service: "s3" }, none: {} })],
    ["tools[0].config.remoteMcp.outboundAuth.awsIam", signedIn({ awsIam: "s3" })],
    ["tools[0].config.remoteMcp.outboundAuth.awsIam.service", signedIn({ awsIam: {} })],
    [
      "tools[0].config.remoteMcp.outboundAuth.awsIam.region",
      signedIn({ awsIam: { service: "s3", region: "" } }),
    ],
    ["tools[0]", { tools: [{ type: "inline_function", name: "look" }] }],
    ["allowedTools[1]", { allowedTools: ["*", "a/b/c"] }],
    ["skills[0]", { skills: [{ path: "a", s3: {} }] }],
    ["maxIterations", { maxIterations: 0 }],
    ["maxTokens", { maxTokens: 1.5 }],
    ["timeoutSeconds", { timeoutSeconds: -1 }],
    ["actorId", { actorId: "" }],
  ])("An invalid %s is refused before anything is sent [AC-50]", async (path, overrides) => {
    const peer = await answering();
    const error = await catchRejection(
      runInvocation(openHarnessSession(peer.url), { overrides: overrides as object }),
    );
    expect(error).toMatchObject({ code: "invalid_option", details: { path } });
    expect(peer.requests).toEqual([]);
  });

  it.each([{ awsIam: { service: "execute-api" } }, { none: {} }, { newerThanThis: {} }])(
    "The outbound authentication of an MCP server is sent unchanged: %j",
    async (outboundAuth) => {
      const peer = await answering();
      const overrides = signedIn(outboundAuth);
      await runInvocation(openHarnessSession(peer.url), { overrides });
      expect(bodyOf(peer)).toMatchObject(overrides);
    },
  );

  it("An empty prompt, and results that do not match the tool calls, are refused [AC-44, RMA-P1-4, RMA-P1-5]", async () => {
    const peer = await answering();
    const session = openHarnessSession(peer.url);
    const empty = session.invoke({ type: "prompt", texts: [" "] }, { signal });
    expect(await catchRejection(empty)).toMatchObject({ code: "invalid_message" });
    const turn = buildTurn([]);
    const unmatched = session.invoke({ type: "results", turn, results: [] }, { signal });
    expect(await catchRejection(unmatched)).toMatchObject({ code: "resume_mismatch" });
    expect(peer.requests).toEqual([]);
  });
});

describe("Tool results", () => {
  it("Results are sent with the echoed assistant message, text after results, and ids valid for Harness [AC-46, RMA-P1-3]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      const isFirst = peer.requests.length === 1;
      response.end(
        Buffer.concat(
          isFirst
            ? [
                encodeAwsFrame("messageStart", { role: "assistant" }),
                encodeAwsFrame("contentBlockDelta", {
                  contentBlockIndex: 0,
                  delta: { text: "Wait." },
                }),
                encodeAwsFrame("contentBlockStop", { contentBlockIndex: 0 }),
                encodeAwsFrame("contentBlockStart", {
                  contentBlockIndex: 1,
                  start: { toolUse: { toolUseId: "functions.look:0", name: "look" } },
                }),
                encodeAwsFrame("contentBlockStop", { contentBlockIndex: 1 }),
                encodeAwsFrame("messageStop", { stopReason: "tool_use" }),
              ]
            : encodeTextTurn("Done"),
        ),
      );
    });
    const session = openHarnessSession(peer.url);
    const turn = buildTurn(await gather(await session.invoke(PROMPT, { signal })));
    const results = [createToolSuccess("functions.look:0", { found: 2 })];
    await gather(
      await session.invoke({ type: "results", turn, results, texts: ["Hurry."] }, { signal }),
    );
    const id = "x--functions_2e_look_3a_0";
    expect(bodyOf(peer, 1)).toEqual({
      messages: [
        {
          role: "assistant",
          content: [
            { text: "Wait." },
            { toolUse: { toolUseId: id, name: "look", input: {}, type: "tool_use" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              toolResult: {
                toolUseId: id,
                content: [{ json: { found: 2 } }],
                status: "success",
                type: "tool_use",
              },
            },
            { text: "Hurry." },
          ],
        },
      ],
    });
  });
});

describe("Offered tools", () => {
  const look = { name: "look", description: "Looks something up", schema: { type: "object" } };
  const inline = {
    type: "inline_function",
    name: "look",
    config: {
      inlineFunction: { description: "Looks something up", inputSchema: { type: "object" } },
    },
  };
  const deployed = [
    {
      type: "remote_mcp",
      name: "notes",
      config: {
        remoteMcp: {
          url: "https://example.com/notes",
          outboundAuth: { awsIam: { service: "execute-api", region: "eu-central-1" } },
        },
      },
    },
    { type: "remote_mcp", name: "look", config: { remoteMcp: { url: "https://example.com" } } },
  ];

  function harnessWith(allowedTools: readonly string[]): Promise<Peer> {
    return startPeer((response, { url }) => {
      if (url.startsWith("/harnesses/invoke")) {
        startEventStream(response);
        return response.end(Buffer.concat(encodeTextTurn("Hello")));
      }
      const isEndpoint = url.includes("/endpoints/");
      const body = isEndpoint
        ? {
            endpoint: {
              endpointName: "prod",
              arn: `${HARNESS_ARN}/endpoint`,
              status: "READY",
              liveVersion: "7",
            },
          }
        : {
            harness: {
              harnessId: "demo-a1b2c3d4e5",
              harnessName: "demo",
              arn: HARNESS_ARN,
              tools: deployed,
              allowedTools,
            },
          };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify(body));
    });
  }

  it("Offered tools are added to the deployed tools and replace those with the same name [AC-47, RMA-P1-6]", async () => {
    const peer = await harnessWith(["@builtin"]);
    const session = openHarnessSession(peer.url);
    await runInvocation(session, { tools: [look] });
    await runInvocation(session, { tools: [look] });
    expect(peer.requests.map(({ method, url }) => `${method} ${url.split("?")[0]}`)).toEqual([
      "GET /harnesses/demo-a1b2c3d4e5",
      "POST /harnesses/invoke",
      "POST /harnesses/invoke",
    ]);
    expect(bodyOf(peer, 1)).toMatchObject({
      tools: [deployed[0], inline],
      allowedTools: ["@builtin", "look"],
    });
  });

  it("Offered tools are merged with the version of the endpoint, and an open allow list is unchanged [AC-47]", async () => {
    const peer = await harnessWith(["*"]);
    await runInvocation(openHarnessSession(peer.url, { qualifier: "prod" }), { tools: [look] });
    expect(peer.requests.slice(0, 2).map(({ url }) => url)).toEqual([
      "/harnesses/demo-a1b2c3d4e5/endpoints/prod",
      "/harnesses/demo-a1b2c3d4e5?harnessVersion=7",
    ]);
    expect(bodyOf(peer, 2)).toMatchObject({ allowedTools: ["*"] });
  });

  it("A failure to read the deployed tools names the missing permission [AC-47]", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(403, { "x-amzn-errortype": "AccessDeniedException" });
      response.end(JSON.stringify({ message: "not allowed" }));
    });
    const error = await catchRejection(
      runInvocation(openHarnessSession(peer.url), { tools: [look] }),
    );
    expect(error).toMatchObject({ code: "access_denied", details: { operation: "GetHarness" } });
    expect(String(error)).toContain('set offeredTools to "replace"');
    const cut = await startPeer((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.socket?.resetAndDestroy());
    });
    const lost = await catchRejection(
      runInvocation(openHarnessSession(cut.url), { tools: [look] }),
    );
    expect(lost).toMatchObject({ code: "connection_lost" });
  });

  it("The deployed tools are read with a signature even if the agent is invoked with a token [AC-47, AC-54]", async () => {
    const peer = await harnessWith(["*"]);
    await runInvocation(openHarnessSession(peer.url, { bearerToken: "token" }), { tools: [look] });
    expect(peer.requests.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual([
      "AWS4-HMAC-SHA256",
      "Bearer",
    ]);
  });

  it("Offered tools replace the deployed ones on request, without reading them [AC-47]", async () => {
    const peer = await harnessWith([]);
    await runInvocation(openHarnessSession(peer.url, { offeredTools: "replace" }), {
      tools: [look],
    });
    expect(peer.requests).toHaveLength(1);
    expect(bodyOf(peer)).toMatchObject({ tools: [inline] });
  });
});
