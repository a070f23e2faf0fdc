import { describe, expect, it } from "vitest";
import {
  AccessDeniedError,
  AgentFailedError,
  ConflictError,
  ConnectFailedError,
  ConnectionLostError,
  toError,
  NotFoundError,
  QuotaExceededError,
  ServiceFailedError,
  ThrottledError,
  UnauthorizedError,
  UnknownExceptionError,
  ValidationFailedError,
} from "../../src/domain/provider/provider-error.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { buildTurn } from "../../src/domain/provider/turn.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { findSignatureProblem } from "../support/server/find-signature-problem.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextDelta,
  encodeTextTurn,
  type Peer,
} from "../support/server/scripted-peer.ts";
import {
  runInvocation,
  openHarnessSession,
  TEST_KEYS,
  PROMPT,
  catchRejection,
  readTurn,
} from "../support/session/provider-session.ts";

const { signal } = new AbortController();

interface HttpError {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: { readonly [name: string]: string };
}

async function refusedWith({ status, type, body, headers = {} }: HttpError): Promise<unknown> {
  const peer = await startPeer((response) => {
    response.writeHead(status, {
      ...headers,
      "x-amzn-requestid": "request-1",
      ...(type !== undefined && { "x-amzn-errortype": type }),
    });
    response.end(body);
  });
  const error = await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
  expect(peer.requests).toHaveLength(1);
  return error;
}

describe("Error responses", () => {
  it.each([
    [400, "ValidationException", ValidationFailedError, "validation_failed"],
    [401, "UnauthorizedException", UnauthorizedError, "unauthorized"],
    [402, "ServiceQuotaExceededException", QuotaExceededError, "quota_exceeded"],
    [403, "AccessDeniedException", AccessDeniedError, "access_denied"],
    [404, "ResourceNotFoundException", NotFoundError, "not_found"],
    [409, "ConflictException", ConflictError, "conflict"],
    [409, "RetryableConflictException", ConflictError, "conflict"],
    [424, "RuntimeClientError", AgentFailedError, "agent_failed"],
    [429, "ThrottlingException", ThrottledError, "throttled"],
    [500, "InternalServerException", ServiceFailedError, "service_failed"],
    [418, "TeapotException", UnknownExceptionError, "unknown_exception"],
  ])(
    "%i %s has its error class and code, and is never retried [AC-57, AC-58, AC-62, AC-63, RMA-P0-5]",
    async (status, type, expected, code) => {
      const body = `{"message":"because","extra":1}`;
      const error = await refusedWith({ status, type, body });
      expect(error).toBeInstanceOf(expected);
      expect(error).toMatchObject({
        code,
        status,
        phase: "http",
        requestId: "request-1",
        message: `${type}: because`,
        details: {
          type,
          status,
          phase: "http",
          requestId: "request-1",
          payload: { message: "because", extra: 1 },
        },
      });
    },
  );

  it("The invalid fields and the retry delay are kept [RMA-P2-8]", async () => {
    const fieldList = [{ name: "messages", message: "too many" }];
    const body = JSON.stringify({ message: "no", reason: "FieldValidationFailed", fieldList });
    expect(await refusedWith({ status: 400, type: "ValidationException", body })).toMatchObject({
      details: { reason: "FieldValidationFailed", fields: fieldList },
    });
    const headers = { "retry-after": "7" };
    expect(await refusedWith({ status: 429, body: "{}", headers })).toMatchObject({
      code: "throttled",
      details: { retryAfter: 7 },
    });
  });

  it.each([
    [503, "<html><body>Service Unavailable</body></html>", "service_failed", "HTTP 503"],
    [502, "", "service_failed", "HTTP 502"],
    [403, "", "access_denied", "HTTP 403"],
    [429, "[1", "throttled", "HTTP 429"],
    [404, "null", "not_found", "HTTP 404"],
  ])("%i with the body %j keeps its status [AC-64]", async (status, body, code, message) => {
    expect(await refusedWith({ status, body })).toMatchObject({ status, code, message });
  });

  it("An error body is read only up to a limit [AC-64]", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(500);
      const flood = (): void => {
        while (response.write(Buffer.alloc(65_536, "x")));
      };
      response.on("drain", flood);
      flood();
    });
    const error = await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
    expect(error).toMatchObject({ code: "service_failed", status: 500 });
    await peer.waitUntilQuiet();
  });
});

describe("Invalid streams", () => {
  it("An invalid stream is closed where it broke, even if the server continues to send [AC-5]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
      const flood = (): void => {
        while (response.write(Buffer.alloc(65_536, 0xff)));
      };
      response.on("drain", flood);
      flood();
    });
    const { end } = await runInvocation(openHarnessSession(peer.url));
    expect(end?.failure?.code).toMatch(/^frame_/);
    await peer.waitUntilQuiet();
  });
});

describe("Exceptions in the stream", () => {
  async function endedBy(...frames: readonly Buffer[]) {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.end(Buffer.concat(frames));
    });
    const turn = await runInvocation(openHarnessSession(peer.url));
    expect(peer.requests).toHaveLength(1);
    return turn;
  }

  it.each([
    ["validationException", ValidationFailedError],
    ["internalServerException", ServiceFailedError],
    ["runtimeClientError", AgentFailedError],
    ["throttlingException", ThrottledError],
    ["ThrottlingException", ThrottledError],
    ["accessDeniedException", AccessDeniedError],
    ["somethingNewException", UnknownExceptionError],
  ])(
    "%s has the same error as an error response, at the start or later [AC-57, AC-60, AC-63]",
    async (type, expected) => {
      const exception = encodeAwsFrame(type, { message: "because", extra: 1 }, "exception");
      const first = await endedBy(exception);
      const later = await endedBy(
        encodeAwsFrame("messageStart", { role: "assistant" }),
        encodeTextDelta("Hel"),
        exception,
      );
      expect(later.text).toBe("Hel");
      for (const { end } of [first, later]) {
        if (end?.failure === undefined) throw new Error("The turn did not fail");
        expect(end.outcome).toBe("failed");
        expect(toError(end.failure)).toBeInstanceOf(expected);
        expect(toError(end.failure)).toMatchObject({
          phase: "stream",
          requestId: "request-1",
          message: `${type}: because`,
          details: { type, payload: { message: "because", extra: 1 } },
        });
      }
    },
  );

  it.each([
    [
      "The model returned the following errors: duplicate Ids at messages.10.content",
      "duplicate-call-ids",
    ],
    [
      "the number of toolResult blocks at messages.1.content exceeds the number of toolUse blocks of previous turn",
      "results-without-calls",
    ],
    ["Input is too long for requested model.", "context-overflow"],
  ])(
    "A failure of the agent is classified by its message: %s [AC-62]",
    async (message, problem) => {
      const { end } = await endedBy(encodeAwsFrame("runtimeClientError", { message }, "exception"));
      expect(end?.failure).toMatchObject({ code: "agent_failed", details: { problem } });
    },
  );

  it("A stream that stops without an end is an incomplete turn, not an exception [AC-12]", async () => {
    const cut = await endedBy(...encodeTextTurn("Hello").slice(0, -1));
    expect(cut.end?.failure).toMatchObject({
      code: "incomplete_turn",
      details: { phase: "stream", requestId: "request-1" },
    });
  });
});

describe("Invalid responses", () => {
  it("A protocol switch fails and does not hang", async () => {
    const peer = await startPeer((response) => {
      response.socket?.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
      );
    });
    const error = await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
    expect(error).toMatchObject({ code: "connection_lost", phase: "http" });
    await peer.waitUntilQuiet();
  });

  it("An error response that never ends fails at the limit for the first event [AC-67]", async () => {
    const clock = createFakeClock();
    const peer = await startPeer((response) => {
      response.writeHead(400);
      response.write("{", () => setImmediate(() => clock.advance(1000)));
    });
    const session = openHarnessSession(peer.url, { clock, limits: { firstEvent: 1000 } });
    const error = await catchRejection(session.invoke(PROMPT, { signal }));
    expect(error).toMatchObject({ code: "first_event_timeout", phase: "http" });
  });
});

describe("Connections", () => {
  it("A connection that cannot be made fails before anything is sent [AC-57]", async () => {
    const error = await catchRejection(
      openHarnessSession("http://127.0.0.1:9").invoke(PROMPT, { signal }),
    );
    expect(error).toBeInstanceOf(ConnectFailedError);
    expect(error).toMatchObject({ phase: "connect" });
    expect(String(error)).toContain("127.0.0.1:9");
  });

  it("A connection reset before a response is lost, and the request is not repeated [AC-58]", async () => {
    const peer = await startPeer((response) => response.socket?.resetAndDestroy());
    const error = await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
    expect(error).toBeInstanceOf(ConnectionLostError);
    expect(error).toMatchObject({ phase: "http" });
    expect(peer.requests).toHaveLength(1);
  });

  it.each([
    ["before the first event", []],
    [
      "after some text",
      [encodeAwsFrame("messageStart", { role: "assistant" }), encodeTextDelta("Hel")],
    ],
  ])(
    "A connection reset %s fails the turn, and the request is not repeated [AC-59]",
    async (_, frames) => {
      const peer = await startPeer((response) => {
        startEventStream(response);
        response.flushHeaders();
        response.write(Buffer.concat(frames), () => response.socket?.resetAndDestroy());
      });
      const turn = await runInvocation(openHarnessSession(peer.url));
      expect(turn.end).toMatchObject({
        outcome: "failed",
        openToolCallIds: [],
        failure: { code: "connection_lost", details: { phase: "stream", requestId: "request-1" } },
      });
      expect(turn.text).toBe(frames.length === 0 ? "" : "Hel");
      expect(peer.requests).toHaveLength(1);
    },
  );
});

describe("Connections that break after the end of a turn", () => {
  /** Resets the first connection after these frames; all later requests get a whole response. */
  function resetBehind(...frames: readonly Buffer[]): Promise<Peer> {
    let calls = 0;
    return startPeer((response) => {
      calls += 1;
      startEventStream(response);
      if (calls > 1) response.end(Buffer.concat(encodeTextTurn("Done")));
      else response.write(Buffer.concat(frames), () => response.socket?.resetAndDestroy());
    });
  }

  it("The turn keeps its outcome and has a diagnostic", async () => {
    const peer = await resetBehind(...encodeTextTurn("Hello"));
    expect(await runInvocation(openHarnessSession(peer.url))).toMatchObject({
      text: "Hello",
      diagnostics: [{ code: "cut_after_end" }],
      end: { outcome: "completed", reason: "end_turn" },
    });
  });

  it("A waiting tool call is not lost while its handler runs [AC-70]", async () => {
    const peer = await resetBehind(
      encodeAwsFrame("messageStart", { role: "assistant" }),
      encodeAwsFrame("contentBlockStart", {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "call_1", name: "look", type: "tool_use" } },
      }),
      encodeAwsFrame("contentBlockStop", { contentBlockIndex: 0 }),
      encodeAwsFrame("messageStop", { stopReason: "tool_use" }),
    );
    const session = openHarnessSession(peer.url);
    const events: ProviderEvent[] = [];
    for await (const event of await session.invoke(PROMPT, { signal })) {
      events.push(event);
      // The connection breaks while the handler runs.
      if (event.type === "tool.end") await peer.waitUntilQuiet();
    }
    const turn = buildTurn(events);
    expect(turn.end).toMatchObject({ outcome: "action-required", openToolCallIds: ["call_1"] });
    const results = [createToolSuccess("call_1", "seen")];
    const resumed = await session.invoke({ type: "results", turn, results }, { signal });
    expect((await readTurn(resumed)).text).toBe("Done");
  });
});

describe("Clock skew", () => {
  it("The clock is corrected from the refusal, and the request is signed once more [AC-53]", async () => {
    const serviceTime = Date.UTC(2026, 10, 16, 12);
    const peer = await startPeer((response, request) => {
      const problem = findSignatureProblem(request, TEST_KEYS, serviceTime);
      if (problem === null) {
        startEventStream(response);
        return response.end(Buffer.concat(encodeTextTurn("Hello")));
      }
      response.writeHead(403, {
        "x-amzn-errortype": "InvalidSignatureException",
        date: new Date(serviceTime).toUTCString(),
      });
      return response.end(JSON.stringify({ message: `Signature expired: ${problem}` }));
    });
    const clock = { ...createFakeClock(), now: () => serviceTime - 3_600_000 };
    const session = openHarnessSession(peer.url, { clock });
    expect((await runInvocation(session)).text).toBe("Hello");
    expect((await runInvocation(session)).text).toBe("Hello");
    expect(peer.requests).toHaveLength(3);
  });

  it("A bearer token, or an implausible date, does not trigger a correction [AC-53, AC-58]", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(403, { date: "Fri, 31 Dec 9999 23:59:59 GMT" });
      response.end(JSON.stringify({ message: "Signature expired: always" }));
    });
    await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
    await catchRejection(
      openHarnessSession(peer.url, { bearerToken: "token" }).invoke(PROMPT, { signal }),
    );
    expect(peer.requests).toHaveLength(2);
  });

  it("A correction is tried only once [AC-53]", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(403, { date: new Date().toUTCString() });
      response.end(JSON.stringify({ message: "Signature expired: always" }));
    });
    const error = await catchRejection(openHarnessSession(peer.url).invoke(PROMPT, { signal }));
    expect(error).toBeInstanceOf(AccessDeniedError);
    expect(peer.requests).toHaveLength(2);
  });
});
