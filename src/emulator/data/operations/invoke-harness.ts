import type { Brain, InvocationSettings } from "../../brains/brain.ts";
import type { Message } from "../../brains/session-message.ts";
import type { FailStep } from "../../brains/step.ts";
import type { HarnessRecord } from "../../control/harness-registry.ts";
import {
  ServiceError,
  type EmulatorRequest,
  type EmulatorResponse,
  type EmulatorRoute,
} from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";
import type { DataPlane } from "../data-plane.ts";
import { type ServiceSession, checkOverlap } from "../session/service-session.ts";
import {
  EVENT_STREAM,
  createHarnessDialect,
  encodeHarnessFailure,
} from "../turn/harness-dialect.ts";
import { runTurn } from "../turn/run-turn.ts";
import { checkConversation } from "./check-conversation.ts";
import {
  readHarnessInvocation,
  SESSION_HEADER,
  type HarnessInvocation,
} from "./harness-invocation.ts";
import { resolveSettings } from "./invocation-settings.ts";
import { createUnknownAgentError } from "./session-target.ts";

/** `POST /harnesses/invoke`: runs a turn of a session and streams event-stream frames. */
export function createHarnessRoute(plane: DataPlane): EmulatorRoute {
  return {
    method: "POST",
    path: "/harnesses/invoke",
    async handle(request) {
      const invocation = readHarnessInvocation(request);
      const harness = findReadyHarness(plane, invocation);
      const settings = resolveSettings(harness, invocation.overrides, plane.switches);
      const brain = await plane.brains(harness.brain);
      const owner = {
        arn: harness.arn,
        lifecycle: harness.lifecycle,
        hasMemory: harness.memory !== null,
      };
      const response = await plane.sessions.useSession(owner, invocation.sessionId, (session) => {
        checkOverlap(session, plane.switches);
        return runHarnessTurn(plane, { request, invocation, harness, settings, session, brain });
      });
      const headers = { ...response.headers, [SESSION_HEADER]: invocation.sessionId };
      return { ...response, headers };
    },
  };
}

interface HarnessTurn {
  readonly request: EmulatorRequest;
  readonly invocation: HarnessInvocation;
  readonly harness: HarnessRecord;
  readonly settings: InvocationSettings;
  readonly session: ServiceSession;
  readonly brain: Brain;
}

async function runHarnessTurn(plane: DataPlane, turn: HarnessTurn): Promise<EmulatorResponse> {
  const { request, invocation, harness, settings, session, brain } = turn;
  const keepsOpenCalls = harness.memory !== null && plane.switches.echoWithMemory === "optional";
  const history = session.messages;
  const newMessages = dropEcho(history, invocation.messages, keepsOpenCalls);
  const failure = checkConversation([...history, ...newMessages], history.length, plane.switches);
  if (failure !== null) return createFrameResponse(encodeHarnessFailure(failure));
  return runTurn(plane, {
    request,
    session,
    brain,
    settings,
    newMessages,
    keepsOpenCalls,
    createDialect: (faults) => createHarnessDialect(plane.switches, faults),
    createRefusal: (error) => {
      const outcome = applyThrottlingSwitch(error, plane.switches);
      if (outcome instanceof ServiceError) throw outcome;
      return createFrameResponse(encodeHarnessFailure(outcome));
    },
  });
}

/** Drops a repeated assistant message if the session has stored its tool calls itself. */
function dropEcho(
  history: readonly Message[],
  newMessages: readonly Message[],
  keepsOpenCalls: boolean,
): readonly Message[] {
  const [first] = newMessages;
  const isEcho =
    keepsOpenCalls && first?.role === "assistant" && history.at(-1)?.role === "assistant";
  return isEcho ? newMessages.slice(1) : newMessages;
}

function findReadyHarness(
  plane: DataPlane,
  { harnessArn, qualifier }: HarnessInvocation,
): HarnessRecord {
  const harness = plane.harnesses.findHarness(harnessArn, qualifier, plane.clock.now());
  if (harness === undefined) throw createUnknownAgentError(harnessArn, qualifier);
  const { status, endpoint, endpointStatus } = harness;
  if (status === "READY" && endpointStatus === "READY") return harness;
  const message = `Harness '${harness.id}' is ${status} and its endpoint '${endpoint}' is ${endpointStatus}; both must be READY`;
  throw plane.switches.notReady === "404"
    ? new ServiceError(404, "ResourceNotFoundException", message)
    : new ServiceError(400, "ValidationException", message, { reason: "ResourceConflict" });
}

function createFrameResponse(body: Uint8Array): EmulatorResponse {
  return { status: 200, headers: { "content-type": EVENT_STREAM }, body };
}

/** Applies the switch for throttling: an HTTP error, or a frame in a stream with status 200. */
function applyThrottlingSwitch(error: ServiceError, switches: Switches): ServiceError | FailStep {
  if (error.type !== "ThrottlingException") return error;
  switch (switches.throttlingInStream) {
    case "http":
      return error;
    case "frame":
      return { type: "fail", exception: "throttlingException", message: error.message };
    case "wrapped":
      return {
        type: "fail",
        exception: "runtimeClientError",
        message: `An error occurred (ThrottlingException) when calling the ConverseStream operation: ${error.message}`,
      };
    default:
      return switches.throttlingInStream satisfies never;
  }
}
