import { randomUUID } from "node:crypto";
import { isObject, parseJson } from "../../../data/json.ts";
import type { Brain, InvocationSettings } from "../../brains/brain.ts";
import type { Message } from "../../brains/session-message.ts";
import { createSeededRandom } from "../../brains/seeded-random.ts";
import {
  ServiceError,
  type EmulatorRequest,
  type EmulatorResponse,
  type EmulatorRoute,
} from "../../service/service-types.ts";
import { Constraints } from "../../service/constraints.ts";
import type { DataPlane, RuntimeRecord } from "../data-plane.ts";
import type { Dialect } from "../turn/dialect.ts";
import { SESSION_HEADER } from "./harness-invocation.ts";
import { checkOverlap, type ServiceSession } from "../session/service-session.ts";
import {
  findAgent,
  readSessionTarget,
  findRuntime,
  createUnknownAgentError,
} from "./session-target.ts";
import type { StrandsAgent } from "../strands/strands-agent.ts";
import { createJsonDialect, createStringsDialect } from "../strands/app-dialects.ts";
import { createPythonDialect } from "../strands/python-dialect.ts";
import { createTypescriptDialect } from "../strands/typescript-dialect.ts";
import { runTurn } from "../turn/run-turn.ts";

/** `POST /runtimes/{arn}/invocations`: calls an agent's app and passes its body through unchanged. */
export function createRuntimeRoute(plane: DataPlane): EmulatorRoute {
  return {
    method: "POST",
    path: "/runtimes/:arn/invocations",
    async handle(request, { arn }) {
      const constraints = new Constraints();
      const target = readSessionTarget(request, arn, constraints);
      constraints.throwIfInvalid();
      const runtime = findRuntime(plane, target.arn);
      if (runtime === undefined) throw createUnknownAgentError(target.arn, target.qualifier);
      const { sessionId = randomUUID() } = target;
      checkAccept(runtime, request);
      const prompt: Message = { role: "user", content: [{ text: readPrompt(request, runtime) }] };
      const brain = await plane.brains(runtime.brain);
      const response = await plane.sessions.useSession(
        findAgent(plane, target),
        sessionId,
        (session) => {
          checkOverlap(session, plane.switches);
          return runRuntimeTurn(plane, { request, runtime, brain, session, prompt });
        },
      );
      const headers = {
        ...copyTraceHeaders(request),
        ...response.headers,
        [SESSION_HEADER]: sessionId,
      };
      return { ...response, headers };
    },
  };
}

interface RuntimeTurn {
  readonly request: EmulatorRequest;
  readonly runtime: RuntimeRecord;
  readonly brain: Brain;
  readonly session: ServiceSession;
  readonly prompt: Message;
}

async function runRuntimeTurn(plane: DataPlane, turn: RuntimeTurn): Promise<EmulatorResponse> {
  const { request, runtime, brain, session, prompt } = turn;
  const settings = createSettings(runtime);
  const random = createSeededRandom(runtime.style, session.turns);
  const agent = { messages: [...session.messages, prompt], settings, random };
  let failure: string | undefined;
  const response = await runTurn(plane, {
    request,
    session,
    brain,
    settings,
    newMessages: [prompt],
    keepsOpenCalls: true,
    createDialect: () =>
      watchFailures(createDialect(runtime, agent), (message) => (failure = message)),
    createRefusal: (error) => {
      throw error;
    },
  });
  if (runtime.style !== "json") return response;
  const body = await readWhole(response.body);
  if (failure !== undefined) throw createAppError(500, failure);
  return { ...response, body };
}

function createDialect({ style }: RuntimeRecord, agent: StrandsAgent): Dialect {
  switch (style) {
    case "python":
      return createPythonDialect(agent, { ascii: false });
    case "python-ascii":
      return createPythonDialect(agent, { ascii: true });
    case "typescript":
      return createTypescriptDialect(agent);
    case "typescript-strings":
      return createStringsDialect();
    case "json":
      return createJsonDialect();
    default:
      return style satisfies never;
  }
}

/** Reports failures to the caller, because an app without streaming responds with an HTTP status. */
function watchFailures(dialect: Dialect, onFailure: (message: string) => void): Dialect {
  return {
    ...dialect,
    step(step) {
      if (step.type === "fail") onFailure(step.message);
      return dialect.step(step);
    },
    fail(failure) {
      onFailure(failure.message);
      return dialect.fail(failure);
    },
  };
}

async function readWhole(body: EmulatorResponse["body"]): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A TypeScript app streams only to clients which accept an event stream; a Python app ignores the header. */
function checkAccept({ style }: RuntimeRecord, { headers }: EmulatorRequest): void {
  const accept = headers["accept"] ?? "";
  if (style.startsWith("typescript") && !accept.includes("text/event-stream")) {
    throw createAppError(406, "the app streams, and the request does not accept text/event-stream");
  }
}

/** The error of the service for an app that responds with an error. */
function createAppError(status: number, reason: string): ServiceError {
  const message = `Received error (${status}) from runtime. Please check your CloudWatch logs for more information. (${reason})`;
  return new ServiceError(424, "RuntimeClientError", message);
}

/** Reads the prompt: the member `prompt`, another common name, or the whole body. */
function readPrompt({ body, headers }: EmulatorRequest, { style }: RuntimeRecord): string {
  const text = new TextDecoder().decode(body);
  const isJson = (headers["content-type"] ?? "application/json").includes("json");
  const parsed = parseJson(text);
  if (!parsed.ok) {
    if (isJson && style.startsWith("python")) throw createAppError(400, "Invalid JSON");
    return text === "" ? "(nothing)" : text;
  }
  if (typeof parsed.value === "string") return parsed.value;
  const fields = isObject(parsed.value) ? parsed.value : {};
  const prompt = PROMPT_MEMBERS.map((name) => fields[name]).find(
    (value) => typeof value === "string",
  );
  return typeof prompt === "string" ? prompt : text;
}

const PROMPT_MEMBERS = ["prompt", "input", "message", "inputText", "query", "text"];

function createSettings({ systemPrompt }: RuntimeRecord): InvocationSettings {
  return {
    systemPrompt: systemPrompt === undefined ? [] : [systemPrompt],
    tools: [],
    allowedTools: ["*"],
    model: null,
    limits: {
      maxIterations: Infinity,
      maxTokens: null,
      maxTokensPerCall: null,
      timeoutSeconds: MAX_STREAM_SECONDS,
    },
  };
}

/** The service ends a stream after an hour. */
const MAX_STREAM_SECONDS = 3600;

function copyTraceHeaders({ headers }: EmulatorRequest): { [name: string]: string } {
  const names = ["mcp-session-id", "mcp-protocol-version", "x-amzn-trace-id", "traceparent"];
  return Object.fromEntries(
    [...names, "tracestate", "baggage"].flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
