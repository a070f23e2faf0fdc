import type { HttpRequest } from "../platform/http-client.ts";
import { bearing } from "../remote/bearing.ts";
import { onceCaller } from "../remote/once-caller.ts";
import { apiErrorOfAnswer, apiFailureInStream } from "../wire/chat/api-error.ts";
import { chatFold } from "../wire/chat/fold.ts";
import { chatDialect, limitNameAt, type ChatRequestOptions } from "../wire/chat/request.ts";
import { addressOf, checkedKey } from "./address.ts";
import type { Model, ModelSettings } from "./model.ts";
import { remoteModel } from "./remote-model.ts";
import { sseAnswer } from "./sse-answer.ts";

export interface OpenAiCompatibleOptions extends ModelSettings, ChatRequestOptions {
  readonly model: string;
  /** Where `/chat/completions` is, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Not all servers want one. */
  readonly key?: string;
  /** What people call the model; its own name unless said. */
  readonly name?: string;
  readonly connectHint?: string;
}

/** A model behind OpenAI's chat completions, or behind any of the servers that speak them. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Model {
  const { model, baseUrl, key, name = model, maxCharacters, connectHint } = options;
  const url = addressOf(baseUrl, "/chat/completions");
  const { limitName = limitNameAt(url) } = options;
  const secret = key === undefined ? undefined : checkedKey(key, "key");
  const authorize =
    secret === undefined
      ? (request: HttpRequest) => Promise.resolve(request)
      : bearing(() => Promise.resolve(secret));
  const fold = chatFold(maxCharacters === undefined ? {} : { maxCharacters });
  return remoteModel(
    {
      name,
      url,
      headers: { accept: "text/event-stream" },
      callerWith: (parts) => onceCaller({ ...parts, authorize }),
      secrets: secret === undefined ? [] : [secret],
      dialect: chatDialect(model, { ...options, limitName }),
      codecFor: (contentType) => sseAnswer(fold, contentType),
      errorFor: apiErrorOfAnswer,
      explain: apiFailureInStream,
      requestIdHeader: "x-request-id",
      ...(connectHint !== undefined && { connectHint }),
    },
    options,
  );
}
