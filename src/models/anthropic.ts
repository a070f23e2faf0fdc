import type { HttpRequest } from "../platform/http-client.ts";
import { onceCaller } from "../remote/once-caller.ts";
import { apiErrorOfAnswer, apiFailureInStream } from "../wire/chat/api-error.ts";
import { messagesFold } from "../wire/messages/fold.ts";
import { messagesDialect } from "../wire/messages/request.ts";
import { addressOf, checkedKey } from "./address.ts";
import type { Model, ModelSettings } from "./model.ts";
import { remoteModel } from "./remote-model.ts";
import { sseAnswer } from "./sse-answer.ts";

export interface AnthropicOptions extends ModelSettings {
  readonly model: string;
  readonly key: string;
  /** Where `/v1/messages` is; Anthropic's own address unless said. */
  readonly baseUrl?: string;
  readonly name?: string;
}

/** A model behind the Anthropic Messages API. */
export function anthropic(options: AnthropicOptions): Model {
  const { model, baseUrl = "https://api.anthropic.com", name = model, maxCharacters } = options;
  const key = checkedKey(options.key, "key");
  const fold = messagesFold(maxCharacters === undefined ? {} : { maxCharacters });
  const withKey = (request: HttpRequest): Promise<HttpRequest> =>
    Promise.resolve({ ...request, headers: { ...request.headers, "x-api-key": key } });
  return remoteModel(
    {
      name,
      url: addressOf(baseUrl, "/v1/messages"),
      headers: { accept: "text/event-stream", "anthropic-version": "2023-06-01" },
      callerWith: (parts) => onceCaller({ ...parts, authorize: withKey }),
      secrets: [key],
      dialect: messagesDialect(model),
      codecFor: (contentType) => sseAnswer(fold, contentType),
      errorFor: apiErrorOfAnswer,
      explain: apiFailureInStream,
      requestIdHeader: "request-id",
    },
    options,
  );
}
