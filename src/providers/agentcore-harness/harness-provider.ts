import { agentCore, type ConnectionOptions } from "../../aws/agentcore.ts";
import { parseArn } from "../../aws/arn.ts";
import { withFailure } from "../../remote/with-failure.ts";
import {
  harnessHistory,
  harnessResume,
  joinedMessages,
} from "../../wire/agentcore/harness-messages.ts";
import { harnessRequest, type HarnessOverrides } from "../../wire/agentcore/harness-request.ts";
import { harnessStream } from "../../wire/agentcore/harness-stream.ts";
import { mergedTools, narrowedTools } from "../../wire/agentcore/merged-tools.ts";
import { checkHarnessArn, checkQualifier } from "../../wire/agentcore/names.ts";
import { errorOfAnswer, failureInStream } from "../../wire/agentcore/service-error.ts";
import type { TraceContext } from "../../wire/agentcore/session-headers.ts";
import { inlineFunction } from "../../wire/converse/inline-function.ts";
import { userMessages, type ConverseMessage } from "../../wire/converse/request.ts";
import { brokenTurn } from "../agentcore/broken-turn.ts";
import { firstWords, type FirstWords } from "../agentcore/first-words.ts";
import { checkLimits, type CallLimits } from "../agentcore/limits.ts";
import { openStream } from "../agentcore/open-stream.ts";
import { requestIdOf } from "../agentcore/request-id.ts";
import { sessionIdFor } from "../agentcore/session-id.ts";
import { sessionMachine, type MachineSession } from "../agentcore/session-machine.ts";
import type {
  CallInput,
  CallOptions,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderCall,
} from "../provider.ts";
import { deployedToolsOf, type ReadDeployedTools } from "./deployed-tools.ts";

export interface HarnessOptions extends ConnectionOptions {
  readonly harnessArn: string;
  /** The endpoint; DEFAULT when there is none. */
  readonly qualifier?: string;
  /** On whose behalf the agent acts. */
  readonly userId?: string;
  /** For every call; those of a call come before these. */
  readonly overrides?: HarnessOverrides;
  /** Whether offered tools come beside the deployed ones (`merge`, which asks for those first) or in their place. */
  readonly offeredTools?: "merge" | "replace";
  readonly limits?: CallLimits;
}

export interface HarnessCallOptions extends CallOptions {
  readonly overrides?: HarnessOverrides;
  readonly trace?: TraceContext;
}

export interface HarnessSession extends MachineSession {
  call(input: CallInput, options: HarnessCallOptions): Promise<ProviderCall>;
}

export interface HarnessProvider extends Provider {
  open(options?: OpenOptions): HarnessSession;
}

/** An agent on AgentCore Harness: the loop and the history are there, inline tools are ours. */
export function harnessProvider(options: HarnessOptions): HarnessProvider {
  const { qualifier, userId } = options;
  const limits = checkLimits(options.limits ?? {});
  const harnessArn = checkHarnessArn("harnessArn", options.harnessArn);
  if (qualifier !== undefined) checkQualifier("qualifier", qualifier);
  const { region = "", partition = "" } = parseArn(harnessArn) ?? {};
  const service = agentCore({ region, partition }, errorOfAnswer, options);
  const deployed = deployedToolsOf(service, harnessArn, qualifier);

  async function call(
    { sessionId, earlier }: Conversation,
    input: CallInput,
    { signal, trace, tap, ...given }: HarnessCallOptions,
  ): Promise<ProviderCall> {
    const messages = joinedMessages(earlier.items, messagesOf(input));
    const wanted = { ...options.overrides, ...given.overrides };
    const mode = options.offeredTools ?? "merge";
    return openStream({
      service,
      prepare: async (ending) =>
        harnessRequest({
          harnessArn,
          sessionId,
          messages,
          overrides: await withWanted(wanted, given, mode, () => deployed(ending)),
          ...(qualifier !== undefined && { qualifier }),
          ...(userId !== undefined && { userId }),
          ...(trace !== undefined && { trace }),
        }),
      limits,
      signal,
      ...(tap !== undefined && { tap }),
      codecFor(answer) {
        const stream = harnessStream({ contentType: answer.headers["content-type"] ?? null });
        const requestId = requestIdOf(answer);
        return earlier.heardIn(
          withFailure(stream, (failure) => answer.scrub(failureInStream(failure, requestId))),
        );
      },
      broken: brokenTurn,
    });
  }

  return {
    name: "agentcore-harness",
    seams: ["turn-start", "tool-results", "turn-end"],
    effectFree: false,
    takes: { instructions: true, tools: true, allowedTools: true, maxOutputTokens: true },
    ready: () => service.ready(),
    open(opening = {}) {
      const id = sessionIdFor(opening);
      const earlier = firstWords(harnessHistory(opening.history ?? []));
      const target = {
        runtimeArn: harnessArn,
        sessionId: id,
        ...(qualifier !== undefined && { qualifier }),
        ...(userId !== undefined && { userId }),
      };
      return {
        id,
        ...sessionMachine(service, target, limits),
        call: (input, callOptions) => call({ sessionId: id, earlier }, input, callOptions),
      };
    },
  };
}

interface Conversation {
  readonly sessionId: string;
  readonly earlier: FirstWords<ConverseMessage>;
}

function messagesOf(input: CallInput): ConverseMessage[] {
  if (input.type === "prompt") return userMessages(...input.texts);
  return harnessResume(input.turn, input.results, input.texts ?? []);
}

type Deployed = () => ReturnType<ReadDeployedTools>;

/** What a call asks for beside its text. It limits what the overrides allow, and widens nothing. */
async function withWanted(
  overrides: HarnessOverrides,
  { tools = [], instructions, maxOutputTokens, allowedTools }: Partial<CallOptions>,
  mode: "merge" | "replace",
  deployed: Deployed,
): Promise<HarnessOverrides> {
  const { systemPrompt, maxTokens = Infinity } = overrides;
  const told = await withOffered(overrides, tools, mode, deployed);
  const limited = {
    ...told,
    ...(instructions !== undefined && { systemPrompt: joinedPrompt(systemPrompt, instructions) }),
    ...(maxOutputTokens !== undefined && { maxTokens: Math.min(maxTokens, maxOutputTokens) }),
  };
  if (allowedTools === undefined) return limited;
  const isKnown = told.tools !== undefined || told.allowedTools !== undefined || mode === "replace";
  const allowed = isKnown ? (told.allowedTools ?? []) : (await deployed()).allowedTools;
  return { ...limited, allowedTools: narrowedTools(allowed, allowedTools) };
}

/** An override replaces what is deployed; what our own settings say stands before what the call says. */
function joinedPrompt(
  own: HarnessOverrides["systemPrompt"] = [],
  instructions: string,
): NonNullable<HarnessOverrides["systemPrompt"]> {
  return [...(typeof own === "string" ? [{ text: own }] : own), { text: instructions }];
}

async function withOffered(
  overrides: HarnessOverrides,
  offered: readonly OfferedTool[],
  mode: "merge" | "replace",
  deployed: Deployed,
): Promise<HarnessOverrides> {
  if (offered.length === 0) return overrides;
  const ours = offered.map(({ name, description, schema }) =>
    inlineFunction(name, description, schema),
  );
  const { tools, allowedTools } = overrides;
  const base =
    tools !== undefined || mode === "replace"
      ? { tools: tools ?? [], allowedTools: allowedTools ?? [] }
      : await deployed();
  const merged = mergedTools({ ...base, allowedTools: allowedTools ?? base.allowedTools }, ours);
  return {
    ...overrides,
    tools: merged.tools,
    ...(merged.allowedTools.length > 0 && { allowedTools: merged.allowedTools }),
  };
}
