import { toToolName } from "../../domain/model/tool-call-names.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { toJsonText } from "../../data/json.ts";
import type { ModelMessage, ModelRequest, ModelTool } from "../../domain/model/model-request.ts";
import {
  createHistoryNormalizer,
  type NormalizedHistory,
} from "../../domain/model/history-normalizer.ts";
import type { Model } from "../../models/model.ts";
import { randomString } from "../../platform/random.ts";
import { matchResults } from "../../wire/converse/resume.ts";
import type {
  InvocationInput,
  InvocationOptions,
  OfferedTool,
  Provider,
  ProviderInvocation,
} from "../provider.ts";
import { openInvocation } from "./open-invocation.ts";
import {
  createConversationCache,
  deriveTurnProgress,
  collectAgentMessages,
  dropUnknownRoles,
  type Conversation,
} from "./conversation-cache.ts";
import { checkCount, parseGuards, createOptionError, type LocalGuards } from "./turn-guards.ts";
import { collectGuidance, type Guidance } from "./guidance.ts";
import { runModelTurn } from "./model-turn.ts";
import { createRepeatCheck } from "./repeat-check.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface LocalOptions {
  readonly model: Model;
  /** The system prompt, sent before all messages. */
  readonly system?: string;
  /** The maximum of output tokens per message. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly guards?: LocalGuards;
  /**
   * The number of cached conversations, for callers which do not pass a history. Default: 100. A session always passes
   * its history.
   */
  readonly maxConversations?: number;
}

/** An agent whose loop runs in this process and calls a model for each step. An invocation has no side effects. */
export function localProvider(options: LocalOptions): Provider {
  const settings = checkSettings(options);
  const guards = parseGuards(options.guards);
  const normalizeHistory = createHistoryNormalizer();
  const conversationCache = createConversationCache(
    checkCount(options.maxConversations ?? 100, "remembered"),
  );
  const agent: LocalAgent = { model: options.model, settings, guards, normalizeHistory };

  return {
    name: "local",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: true,
    keepsHistory: false,
    capabilities: {
      instructions: true,
      tools: true,
      allowedTools: true,
      maxOutputTokens: true,
      images: true,
    },
    ...(options.model.countTokens !== undefined && {
      countTokens: async (messages, { signal }) =>
        (await options.model.countTokens?.(messages, signal)) ?? null,
    }),
    open({ sessionId: id = `local-${randomString(32)}`, history, stableCount = 0 } = {}) {
      const conversation = conversationCache.open(id, history, stableCount);
      return {
        id,
        invoke: (input, invocationOptions) =>
          invokeModel(agent, conversation, input, invocationOptions),
      };
    },
  };
}

interface LocalAgent {
  readonly model: Model;
  readonly settings: Omit<ModelRequest, "messages">;
  readonly guards: ReturnType<typeof parseGuards>;
  readonly normalizeHistory: ReturnType<typeof createHistoryNormalizer>;
}

async function invokeModel(
  { model, settings, guards, normalizeHistory }: LocalAgent,
  conversation: Conversation,
  input: InvocationInput,
  { signal, turn, tap, trace, ...invocationOptions }: InvocationOptions,
): Promise<ProviderInvocation> {
  const { allowedTools } = invocationOptions;
  const tools = (invocationOptions.tools ?? []).filter(
    ({ name }) => allowedTools?.includes(name) ?? true,
  );
  const requestSettings = applyInvocationOptions(settings, invocationOptions);
  const previousMessages = selectHistory(conversation, input);
  const inputMessages = [...previousMessages, ...toModelMessages(input)];
  const turnStart = input.type === "prompt" ? previousMessages.length : conversation.turnStart;
  const progress = turn ?? deriveTurnProgress(inputMessages.slice(turnStart));
  // Guidance is about tool steps. Without tools, a turn has a single step.
  const guidance = tools.length === 0 ? [] : collectGuidance(guards, input, progress);
  return openInvocation(signal, (ending, onResponse) =>
    runModelTurn({
      requestModel: (since) => {
        const traced = trace === undefined ? requestSettings : { ...requestSettings, trace };
        const history = normalizeHistory([...inputMessages, ...since], conversation.stableCount);
        const request = { ...traced, ...buildRequest(history, tools, guidance) };
        return model.stream(request, ending, {
          onResponse,
          ...omitUndefined({ tap }),
        });
      },
      hooks: guidance.map(({ hook }) => hook),
      checkRepeat: createRepeatCheck(guards.repeatedCalls, progress.answeredToolCalls),
      maxRounds: guards.repeatedCalls?.rounds ?? 1,
      onEnd: (finishedTurn) => {
        Object.assign(conversation, {
          messages: inputMessages,
          lastMessages: collectAgentMessages(finishedTurn),
          turnStart,
        });
      },
    }),
  );
}

/** The agent's own instructions come first. An invocation can lower the output limit and never raise it. */
function applyInvocationOptions(
  settings: Omit<ModelRequest, "messages">,
  { instructions, maxOutputTokens }: Partial<InvocationOptions>,
): Omit<ModelRequest, "messages"> {
  const { system, maxTokens = Infinity } = settings;
  const systemText = [system, instructions].filter((text) => text !== undefined).join("\n\n");
  return {
    ...settings,
    ...(systemText.trim() !== "" && { system: systemText }),
    ...(maxOutputTokens !== undefined && { maxTokens: Math.min(maxTokens, maxOutputTokens) }),
  };
}

/**
 * The history before the input. An input with tool results contains the agent's message with the tool calls, so this
 * message is left out here.
 */
function selectHistory(
  { messages, lastMessages }: Conversation,
  { type }: InvocationInput,
): ModelMessage[] {
  return type === "prompt" ? [...messages, ...lastMessages] : [...messages];
}

function toModelMessages(input: InvocationInput): ModelMessage[] {
  const { texts = [], images = [] } = input;
  const contentBlocks = [...images, ...texts.map((text) => ({ type: "text", text }) as const)];
  if (input.type === "prompt") {
    if (images.length === 0 && texts.every((text) => text.trim() === "")) {
      throw new SpanlineError(
        "invalid_message",
        "Cannot send an empty message. Fix: add text or an image",
      );
    }
    return [{ role: "user", blocks: contentBlocks }];
  }
  const { turn, results } = input;
  const findResult = matchResults(turn.toolCalls, results);
  const resultBlocks = turn.toolCalls.map(
    (toolCall) => ({ type: "tool-result", result: findResult(toolCall) }) as const,
  );
  return [
    ...dropUnknownRoles(turn.messages),
    { role: "user", blocks: [...resultBlocks, ...contentBlocks] },
  ];
}

function buildRequest(
  history: NormalizedHistory,
  offered: readonly OfferedTool[],
  guidance: readonly Guidance[],
): Pick<ModelRequest, "messages" | "stableCount" | "tools"> {
  const { messages, stableCount } = history;
  // Results follow their tool calls, so the history may end with a later message of the agent.
  const isModelNext = messages.at(-1)?.role === "user";
  const texts = [...(isModelNext ? [] : [CONTINUE_NOTE]), ...guidance.map(({ text }) => text)];
  const noteBlocks = texts.map((text) => ({ type: "text", text }) as const);
  const tools = offered.length === 0 ? createPlaceholderTools(history) : offered.map(toModelTool);
  return {
    messages:
      noteBlocks.length === 0 ? messages : [...messages, { role: "user", blocks: noteBlocks }],
    ...(stableCount > 0 && { stableCount }),
    ...(tools.length > 0 && { tools }),
  };
}

const CONTINUE_NOTE = "(The results of your tool calls are above. Continue.)";

function toModelTool({ name, description, schema }: OfferedTool): ModelTool {
  return { name, description, schema: JSON.parse(toJsonText(schema)) };
}

/**
 * Some APIs refuse a history with tool calls if no tools are defined. These placeholders have the names of the earlier
 * tools.
 */
function createPlaceholderTools(history: NormalizedHistory): ModelTool[] {
  const names = history.listCalledTools().map(toToolName);
  return [...new Set(names)].map((name) => ({
    name,
    description: "No longer available. Do not call it.",
    schema: { type: "object" },
  }));
}

function checkSettings(options: LocalOptions): Omit<ModelRequest, "messages"> {
  const { model, system, maxTokens, temperature, stopSequences } = options;
  if (typeof model?.stream !== "function") {
    throw createOptionError(
      "model",
      "a model created by modelFromName, openAiCompatible or anthropic",
    );
  }
  if (maxTokens !== undefined) checkCount(maxTokens, "maxTokens");
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    throw createOptionError("temperature", "a number from 0 to 2");
  }
  return {
    ...(system !== undefined && system.trim() !== "" && { system }),
    ...omitUndefined({ maxTokens, temperature, stopSequences }),
  };
}
