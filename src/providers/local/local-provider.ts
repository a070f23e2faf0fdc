import { plainName } from "../../domain/call-names.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { jsonText } from "../../domain/json.ts";
import type { ModelMessage, ModelRequest, ModelTool } from "../../domain/model-request.ts";
import { settledHistories, type SettledHistory } from "../../domain/settled-history.ts";
import type { Model } from "../../models/model.ts";
import { randomText } from "../../platform/random.ts";
import { matched } from "../../wire/converse/resume.ts";
import type { CallInput, CallOptions, OfferedTool, Provider, ProviderCall } from "../provider.ts";
import { openCall } from "./open-call.ts";
import { conversations, progressIn, saidIn, spokenIn, type Conversation } from "./conversations.ts";
import { checkedCount, checkedGuards, wrong, type LocalGuards } from "./guards.ts";
import { guidanceFor, type Guidance } from "./guidance.ts";
import { modelTurn } from "./model-turn.ts";
import { repeatedCalls } from "./repeated-calls.ts";

export interface LocalOptions {
  readonly model: Model;
  /** What the agent is told about itself, before everything else. */
  readonly system?: string;
  /** How much the model may say in one answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly guards?: LocalGuards;
  /** How many conversations are remembered for callers who do not bring them along; 100 unless said. A session brings its own. */
  readonly remembered?: number;
}

/** An agent whose loop runs here, over a model that is asked for each step. Nothing but the answer comes of a call. */
export function localProvider(options: LocalOptions): Provider {
  const settings = checkedSettings(options);
  const guards = checkedGuards(options.guards);
  const settle = settledHistories();
  const known = conversations(checkedCount(options.remembered ?? 100, "remembered"));

  async function call(
    conversation: Conversation,
    input: CallInput,
    { signal, turn, tap, trace, ...given }: CallOptions,
  ): Promise<ProviderCall> {
    const { allowedTools } = given;
    const tools = (given.tools ?? []).filter(({ name }) => allowedTools?.includes(name) ?? true);
    const asked = withWanted(settings, given);
    const before = saidBefore(conversation, input);
    const said = [...before, ...messagesOf(input)];
    const turnStart = input.type === "prompt" ? before.length : conversation.turnStart;
    const progress = turn ?? progressIn(said.slice(turnStart));
    // Without tools there are no steps.
    const guided = tools.length === 0 ? [] : guidanceFor(guards, input, progress);
    return openCall(signal, (ending, answered) =>
      modelTurn({
        ask: (since) => {
          const traced = trace === undefined ? asked : { ...asked, trace };
          const history = settle([...said, ...since], conversation.stableCount);
          const request = { ...traced, ...requestOf(history, tools, guided) };
          return options.model.call(request, ending, {
            answered,
            ...(tap !== undefined && { tap }),
          });
        },
        hooks: guided.map(({ hook }) => hook),
        repeated: repeatedCalls(guards.repeatedCalls, progress.answered),
        rounds: guards.repeatedCalls?.rounds ?? 1,
        ended: (told) => {
          Object.assign(conversation, { messages: said, answer: saidIn(told), turnStart });
        },
      }),
    );
  }

  return {
    name: "local",
    seams: ["turn-start", "tool-results", "turn-end"],
    effectFree: true,
    keepsHistory: false,
    takes: {
      instructions: true,
      tools: true,
      allowedTools: true,
      maxOutputTokens: true,
      images: true,
    },
    open({ sessionId: id = `local-${randomText(32)}`, history, stableCount = 0 } = {}) {
      const conversation = known.open(id, history, stableCount);
      return {
        id,
        call: (input, callOptions) => call(conversation, input, callOptions),
      };
    },
  };
}

/** The agent's own instructions come first, and what it may say at most it may not say more of. */
function withWanted(
  settings: Omit<ModelRequest, "messages">,
  { instructions, maxOutputTokens }: Partial<CallOptions>,
): Omit<ModelRequest, "messages"> {
  const { system, maxTokens = Infinity } = settings;
  const told = [system, instructions].filter((text) => text !== undefined).join("\n\n");
  return {
    ...settings,
    ...(told.trim() !== "" && { system: told }),
    ...(maxOutputTokens !== undefined && { maxTokens: Math.min(maxTokens, maxOutputTokens) }),
  };
}

/** A call that brings results brings the answer with their calls as well. */
function saidBefore({ messages, answer }: Conversation, { type }: CallInput): ModelMessage[] {
  return type === "prompt" ? [...messages, ...answer] : [...messages];
}

function messagesOf(input: CallInput): ModelMessage[] {
  const { texts = [], images = [] } = input;
  const said = [...images, ...texts.map((text) => ({ type: "text", text }) as const)];
  if (input.type === "prompt") {
    if (images.length === 0 && texts.every((text) => text.trim() === "")) {
      throw new SpanlineError("invalid_message", "Cannot send an empty message; give it some text");
    }
    return [{ role: "user", blocks: said }];
  }
  const { turn, results } = input;
  const resultOf = matched(turn.calls, results);
  const brought = turn.calls.map((one) => ({ type: "result", result: resultOf(one) }) as const);
  return [...spokenIn(turn.messages), { role: "user", blocks: [...brought, ...said] }];
}

function requestOf(
  history: SettledHistory,
  offered: readonly OfferedTool[],
  guided: readonly Guidance[],
): Pick<ModelRequest, "messages" | "stableCount" | "tools"> {
  const { messages, stableCount } = history;
  // Results stand behind their calls, also where the agent had gone on to speak.
  const isTurnOfModel = messages.at(-1)?.role === "user";
  const texts = [...(isTurnOfModel ? [] : [GO_ON]), ...guided.map(({ text }) => text)];
  const told = texts.map((text) => ({ type: "text", text }) as const);
  const tools = offered.length === 0 ? missingTools(history) : offered.map(modelTool);
  return {
    messages: told.length === 0 ? messages : [...messages, { role: "user", blocks: told }],
    ...(stableCount > 0 && { stableCount }),
    ...(tools.length > 0 && { tools }),
  };
}

const GO_ON = "(What your calls gave is above. Go on.)";

function modelTool({ name, description, schema }: OfferedTool): ModelTool {
  return { name, description, schema: JSON.parse(jsonText(schema)) };
}

/** Some APIs take no call in a history without any tool beside it. These had a name once, and are not there any more. */
function missingTools(history: SettledHistory): ModelTool[] {
  const names = history.calledTools().map(plainName);
  return [...new Set(names)].map((name) => ({
    name,
    description: "Is not there any more. Do not call it.",
    schema: { type: "object" },
  }));
}

function checkedSettings(options: LocalOptions): Omit<ModelRequest, "messages"> {
  const { model, system, maxTokens, temperature, stopSequences } = options;
  if (typeof model?.call !== "function") {
    throw wrong("model", "one of modelFromName, openAiCompatible or anthropic");
  }
  if (maxTokens !== undefined) checkedCount(maxTokens, "maxTokens");
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    throw wrong("temperature", "a number from 0 to 2");
  }
  return {
    ...(system !== undefined && system.trim() !== "" && { system }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences }),
  };
}
