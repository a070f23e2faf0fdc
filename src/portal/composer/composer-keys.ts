/** A key press in the message field. */
export interface ComposerKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly hasModifier: boolean;
  /** Whether an input method is composing a character. Its Enter confirms the character. */
  readonly isComposing: boolean;
}

export interface ComposerKeyState {
  readonly hasCompletion: boolean;
  readonly isRunning: boolean;
  /** Whether Enter inserts a line, as on touch keyboards. */
  readonly isTouch: boolean;
}

export type ComposerKeyAction =
  | "send"
  | "complete"
  | "next-completion"
  | "previous-completion"
  | "close-completion"
  | "cancel-turn";

/** Legacy code of a key press in an input method. Safari reports the code after the end of the composition. */
export const COMPOSITION_KEY_CODE = 229;

/** Returns the action of a key press. Undefined if the field handles the key itself. */
export function readComposerKey(
  { key, shiftKey, hasModifier, isComposing }: ComposerKey,
  { hasCompletion, isRunning, isTouch }: ComposerKeyState,
): ComposerKeyAction | undefined {
  if (isComposing) return undefined;
  switch (key) {
    case "Enter":
      if (hasModifier) return "send";
      if (shiftKey) return undefined;
      if (hasCompletion) return "complete";
      return isTouch ? undefined : "send";
    case "Tab":
      return hasCompletion && !shiftKey ? "complete" : undefined;
    case "ArrowDown":
      return hasCompletion ? "next-completion" : undefined;
    case "ArrowUp":
      return hasCompletion ? "previous-completion" : undefined;
    case "Escape":
      if (hasCompletion) return "close-completion";
      return isRunning ? "cancel-turn" : undefined;
    default:
      return undefined;
  }
}
