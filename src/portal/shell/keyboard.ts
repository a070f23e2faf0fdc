/** The keys of a part of the portal. */
export interface KeyGroup {
  readonly name: "Everywhere" | "Inbox" | "Composer";
  readonly entries: readonly KeyEntry[];
}

interface KeyEntry {
  /** As shown. */
  readonly label: string;
  /** Names of the keys as in a keyboard event. */
  readonly keys: readonly string[];
  readonly meaning: string;
}

/** All keys of the portal. A test compares the table with the functions that handle the keys. */
export const KEYBOARD: readonly KeyGroup[] = [
  {
    name: "Everywhere",
    entries: [
      { label: "?", keys: ["?"], meaning: "Show this list" },
      { label: "Esc", keys: ["Escape"], meaning: "Close, or cancel the running turn of a session" },
    ],
  },
  {
    name: "Inbox",
    entries: [
      {
        label: "j / k",
        keys: ["j", "k", "ArrowDown", "ArrowUp"],
        meaning: "Next or previous request, also with the arrows",
      },
      { label: "a", keys: ["a"], meaning: "Allow, or say yes" },
      { label: "A", keys: ["A"], meaning: "Always allow in this session" },
      { label: "d", keys: ["d"], meaning: "Deny, with a reason if you want" },
      { label: "e", keys: ["e"], meaning: "Edit the arguments" },
      { label: "x", keys: ["x"], meaning: "Select for a decision about several requests" },
      { label: "Enter", keys: ["Enter"], meaning: "Open the session" },
      { label: "Esc", keys: ["Escape"], meaning: "Close, or clear the selection" },
    ],
  },
  {
    name: "Composer",
    entries: [
      { label: "Enter", keys: ["Enter"], meaning: "Send the message, or take the chosen command" },
      { label: "Shift Enter", keys: [], meaning: "Begin a new line" },
      { label: "Tab", keys: ["Tab"], meaning: "Complete a command after /" },
      { label: "↓ / ↑", keys: ["ArrowDown", "ArrowUp"], meaning: "Choose a command after /" },
      { label: "Esc", keys: ["Escape"], meaning: "Close the commands, or cancel the running turn" },
    ],
  },
];
