import type { HttpRequest } from "../platform/http-client.ts";
import { createBearerAuth } from "../remote/bearer-auth.ts";
import { createSingleAttemptClient } from "../remote/single-attempt-client.ts";
import { apiErrorFromResponse, classifyApiFailure } from "../wire/chat/model-api-error.ts";
import { createChatFold } from "../wire/chat/fold.ts";
import {
  createChatDialect,
  resolveLimitName,
  type ChatRequestOptions,
} from "../wire/chat/request.ts";
import { resolveApiUrl, checkApiKey } from "./api-url.ts";
import type { Model, ModelSettings } from "./model.ts";
import { createRemoteModel } from "./remote-model.ts";
import { createSseResponseCodec } from "./sse-response.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface OpenAiCompatibleOptions extends ModelSettings, ChatRequestOptions {
  readonly model: string;
  /** The base URL of `/chat/completions`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Absent for servers without authentication. */
  readonly key?: string;
  /** The display name. Default: `model`. */
  readonly name?: string;
  readonly connectHint?: string;
}

/** A model behind OpenAI's chat completions or any compatible server. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Model {
  const { model, baseUrl, key, name = model, maxCharacters, connectHint } = options;
  const url = resolveApiUrl(baseUrl, "/chat/completions");
  const { limitName = resolveLimitName(url) } = options;
  const secret = key === undefined ? undefined : checkApiKey(key, "key");
  const authorize =
    secret === undefined
      ? (request: HttpRequest) => Promise.resolve(request)
      : createBearerAuth(() => Promise.resolve(secret));
  const fold = createChatFold(maxCharacters === undefined ? {} : { maxCharacters });
  return createRemoteModel(
    {
      name,
      url,
      headers: { accept: "text/event-stream" },
      createClient: (parts) => createSingleAttemptClient({ ...parts, authorize }),
      secrets: secret === undefined ? [] : [secret],
      dialect: createChatDialect(model, { ...options, limitName }),
      createCodec: (contentType) => createSseResponseCodec(fold, contentType),
      toError: apiErrorFromResponse,
      explain: classifyApiFailure,
      requestIdHeader: "x-request-id",
      ...omitUndefined({ connectHint }),
    },
    options,
  );
}
