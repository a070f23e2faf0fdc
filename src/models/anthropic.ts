import type { HttpRequest } from "../platform/http-client.ts";
import { createSingleAttemptClient } from "../remote/single-attempt-client.ts";
import { apiErrorFromResponse, classifyApiFailure } from "../wire/chat/model-api-error.ts";
import { createMessagesFold } from "../wire/messages/fold.ts";
import { createMessagesDialect } from "../wire/messages/request.ts";
import { resolveApiUrl, checkApiKey } from "./api-url.ts";
import type { Model, ModelSettings } from "./model.ts";
import { createRemoteModel } from "./remote-model.ts";
import { createSseResponseCodec } from "./sse-response.ts";

export interface AnthropicOptions extends ModelSettings {
  readonly model: string;
  readonly key: string;
  /** The base URL of `/v1/messages`. Default: the API of Anthropic. */
  readonly baseUrl?: string;
  readonly name?: string;
}

/** A model behind the Anthropic Messages API. */
export function anthropic(options: AnthropicOptions): Model {
  const { model, baseUrl = "https://api.anthropic.com", name = model, maxCharacters } = options;
  const key = checkApiKey(options.key, "key");
  const fold = createMessagesFold(maxCharacters === undefined ? {} : { maxCharacters });
  const withKey = (request: HttpRequest): Promise<HttpRequest> =>
    Promise.resolve({ ...request, headers: { ...request.headers, "x-api-key": key } });
  return createRemoteModel(
    {
      name,
      url: resolveApiUrl(baseUrl, "/v1/messages"),
      headers: { accept: "text/event-stream", "anthropic-version": "2023-06-01" },
      createClient: (parts) => createSingleAttemptClient({ ...parts, authorize: withKey }),
      secrets: [key],
      dialect: createMessagesDialect(model),
      createCodec: (contentType) => createSseResponseCodec(fold, contentType),
      toError: apiErrorFromResponse,
      explain: classifyApiFailure,
      requestIdHeader: "request-id",
    },
    options,
  );
}
