import { randomUUID } from "node:crypto";
import { isObject, parseJson } from "../../domain/json.ts";
import type { Brain, Settings } from "../brains/brain.ts";
import type { Message } from "../brains/message.ts";
import { seededRandom } from "../brains/random.ts";
import { ServiceError, type Incoming, type Outgoing, type Route } from "../exchange.ts";
import { Constraints } from "../constraints.ts";
import type { DataPlane, RuntimeRecord } from "./data-plane.ts";
import type { Dialect } from "./dialect.ts";
import { SESSION_HEADER } from "./invocation.ts";
import { refuseOverlap } from "./overlap.ts";
import { agentOf, readTarget, runtimeOf, unknownAgent } from "./session-target.ts";
import type { Session } from "./session.ts";
import type { StrandsAgent } from "./strands/agent.ts";
import { jsonDialect, stringsDialect } from "./strands/app-dialects.ts";
import { pythonDialect } from "./strands/python-dialect.ts";
import { typescriptDialect } from "./strands/typescript-dialect.ts";
import { runTurn } from "./turn.ts";

/** `POST /runtimes/{arn}/invocations`: one call of an agent's app, whose body goes through as the app writes it. */
export function invokeAgentRuntime(plane: DataPlane): Route {
  return {
    method: "POST",
    path: "/runtimes/:arn/invocations",
    async handle(request, { arn }) {
      const constraints = new Constraints();
      const target = readTarget(request, arn, constraints);
      constraints.check();
      const runtime = runtimeOf(plane, target.arn);
      if (runtime === undefined) throw unknownAgent(target.arn, target.qualifier);
      const { sessionId = randomUUID() } = target;
      refuseByApp(runtime, request);
      const sent: Message = { role: "user", content: [{ text: promptIn(request, runtime) }] };
      const brain = await plane.brains(runtime.brain);
      const outgoing = await plane.sessions.enter(agentOf(plane, target), sessionId, (session) => {
        refuseOverlap(session, plane.switches);
        return answer(plane, { request, runtime, brain, session, sent });
      });
      const headers = {
        ...traceHeaders(request),
        ...outgoing.headers,
        [SESSION_HEADER]: sessionId,
      };
      return { ...outgoing, headers };
    },
  };
}

interface Asked {
  readonly request: Incoming;
  readonly runtime: RuntimeRecord;
  readonly brain: Brain;
  readonly session: Session;
  readonly sent: Message;
}

async function answer(plane: DataPlane, asked: Asked): Promise<Outgoing> {
  const { request, runtime, brain, session, sent } = asked;
  const settings = settingsOf(runtime);
  const random = seededRandom(runtime.style, session.turns);
  const agent = { messages: [...session.messages, sent], settings, random };
  let failure: string | undefined;
  const outgoing = await runTurn(plane, {
    request,
    session,
    brain,
    settings,
    sent: [sent],
    keepsOpenCalls: true,
    dialect: () => noting(dialectOf(runtime, agent), (message) => (failure = message)),
    refused: (error) => {
      throw error;
    },
  });
  if (runtime.style !== "json") return outgoing;
  const body = await whole(outgoing.body);
  if (failure !== undefined) throw appError(500, failure);
  return { ...outgoing, body };
}

function dialectOf({ style }: RuntimeRecord, agent: StrandsAgent): Dialect {
  switch (style) {
    case "python":
      return pythonDialect(agent, { ascii: false });
    case "python-ascii":
      return pythonDialect(agent, { ascii: true });
    case "typescript":
      return typescriptDialect(agent);
    case "typescript-strings":
      return stringsDialect();
    case "json":
      return jsonDialect();
    default:
      return style satisfies never;
  }
}

/** Tells of failures: an app that does not stream answers with a status instead. */
function noting(dialect: Dialect, failed: (message: string) => void): Dialect {
  return {
    ...dialect,
    step(step) {
      if (step.type === "fail") failed(step.message);
      return dialect.step(step);
    },
    fail(failure) {
      failed(failure.message);
      return dialect.fail(failure);
    },
  };
}

async function whole(body: Outgoing["body"]): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A stream is only for clients that ask for one, where the app is in TypeScript; in Python nobody looks. */
function refuseByApp({ style }: RuntimeRecord, { headers }: Incoming): void {
  const accept = headers["accept"] ?? "";
  if (style.startsWith("typescript") && !accept.includes("text/event-stream")) {
    throw appError(406, "the app streams, and the request does not accept text/event-stream");
  }
}

/** What the service says of an app that answers with an error. */
function appError(status: number, reason: string): ServiceError {
  const message = `Received error (${status}) from runtime. Please check your CloudWatch logs for more information. (${reason})`;
  return new ServiceError(424, "RuntimeClientError", message);
}

/** What the app takes for the prompt: the member of that name, or one that apps use for it, or all of the body. */
function promptIn({ body, headers }: Incoming, { style }: RuntimeRecord): string {
  const text = new TextDecoder().decode(body);
  const isJson = (headers["content-type"] ?? "application/json").includes("json");
  const parsed = parseJson(text);
  if (!parsed.ok) {
    if (isJson && style.startsWith("python")) throw appError(400, "Invalid JSON");
    return text === "" ? "(nothing)" : text;
  }
  if (typeof parsed.value === "string") return parsed.value;
  const fields = isObject(parsed.value) ? parsed.value : {};
  const prompt = PROMPT_NAMES.map((name) => fields[name]).find(
    (value) => typeof value === "string",
  );
  return typeof prompt === "string" ? prompt : text;
}

const PROMPT_NAMES = ["prompt", "input", "message", "inputText", "query", "text"];

function settingsOf({ systemPrompt }: RuntimeRecord): Settings {
  return {
    systemPrompt: systemPrompt === undefined ? [] : [systemPrompt],
    tools: [],
    allowedTools: ["*"],
    model: null,
    limits: {
      maxIterations: Infinity,
      maxTokens: null,
      maxTokensPerCall: null,
      timeoutSeconds: LONGEST_STREAM_SECONDS,
    },
  };
}

/** The service ends a stream after an hour. */
const LONGEST_STREAM_SECONDS = 3600;

function traceHeaders({ headers }: Incoming): { [name: string]: string } {
  const names = ["mcp-session-id", "mcp-protocol-version", "x-amzn-trace-id", "traceparent"];
  return Object.fromEntries(
    [...names, "tracestate", "baggage"].flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
