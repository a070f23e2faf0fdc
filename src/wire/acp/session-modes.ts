import type { JsonObject } from "../../domain/json.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import {
  isSessionMode,
  MODE_WORDS,
  SESSION_MODES,
  type SessionMode,
} from "../../domain/session-mode.ts";
import { decoded, decodeSessionId, refusedParams, type Decoded } from "./decoded.ts";
import type { ConfigOption, OptionsAnswer } from "./session-update.ts";

/** A session's settings, as the answers that open one carry them: the mode twice, since clients know one of the two. */
export function settingsAnswer(mode: SessionMode): SettingsAnswer {
  const availableModes = SESSION_MODES.map((id) => ({ id, ...MODE_WORDS[id] }));
  return { modes: { currentModeId: mode, availableModes }, configOptions: configOptions(mode) };
}

export interface SettingsAnswer extends OptionsAnswer {
  readonly modes: {
    readonly currentModeId: SessionMode;
    readonly availableModes: readonly object[];
  };
}

/** All of them, each time: a client replaces what it has. */
export function optionsAnswer(mode: SessionMode): OptionsAnswer {
  return { configOptions: configOptions(mode) };
}

const MODE_OPTION = "mode";

function configOptions(mode: SessionMode): readonly ConfigOption[] {
  return [
    {
      id: MODE_OPTION,
      name: "Mode",
      description: "How much tools may do, within what the policy allows",
      category: "mode",
      type: "select",
      currentValue: mode,
      options: SESSION_MODES.map((value) => ({ value, ...MODE_WORDS[value] })),
    },
  ];
}

export interface ConfigureRequest {
  readonly type: "configure";
  readonly sessionId: string;
  readonly command: Extract<SessionCommand, { readonly type: "configure" }>;
  /** What the client wants to hear when it is done. */
  readonly answer: "nothing" | "options";
}

/** Of `session/set_mode`. */
export function decodeSetMode(params: JsonObject): Decoded<ConfigureRequest> {
  return decodeConfigure(params, "modeId", "nothing");
}

/** Of `session/set_config_option`. */
export function decodeSetOption(params: JsonObject): Decoded<ConfigureRequest> {
  if (params["configId"] === MODE_OPTION) return decodeConfigure(params, "value", "options");
  return refusedParams(`"configId" is none of this session's options: ${MODE_OPTION}`);
}

function decodeConfigure(
  params: JsonObject,
  name: "modeId" | "value",
  answer: ConfigureRequest["answer"],
): Decoded<ConfigureRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const mode = params[name];
  if (!isSessionMode(mode)) {
    return refusedParams(`"${name}" is none of this session's modes: ${SESSION_MODES.join(", ")}`);
  }
  const command = { type: "configure", mode } as const;
  return decoded({ type: "configure", sessionId: session.value, command, answer });
}
