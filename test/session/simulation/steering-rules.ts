import { listItems } from "../../../src/data/chunked-list.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { formatPromptPart, type PromptPart } from "../../../src/domain/prompt.ts";
import type { Reminder } from "../../../src/domain/reminder.ts";
import { must } from "./assert-rule.ts";
import type { Step } from "./simulated-session.ts";

interface SeenMessage {
  readonly mode: "steer" | "queue";
  text: string;
}

interface SeenReminder {
  readonly reminder: Reminder;
  readonly sender: string;
  turnsLeft: number;
}

/**
 * Checks from the log alone: an injected message reaches the agent exactly once, with its latest content and in order; a
 * reminder is emitted at most once, and never with the mode `audit_only`.
 */
export function steeringRules(): {
  readonly take: (envelope: Envelope) => void;
  readonly check: (step: Step) => void;
} {
  const messages = new Map<string, SeenMessage>();
  const reminders = new Map<string, SeenReminder>();
  const gone = new Set<string>();
  /** Bodies of reminders which the next message of the session must carry. */
  let emitted: string[] = [];
  let isTurn = false;
  let isInvoking = false;
  let isLost = false;

  const end = (id: string, isKnown: boolean): void => {
    must(isKnown, "only a pending injection ends");
    must(!gone.has(id), "an injection ends once");
    gone.add(id);
  };

  function delivered(messageId: string, content: readonly PromptPart[]): void {
    const message = messages.get(messageId);
    end(messageId, messages.delete(messageId));
    must(message?.text === textOf(content), "the latest content is delivered");
    must(isTurn && !isInvoking, "a message is delivered between two invocations of a turn");
  }

  return {
    take({ event, actor }) {
      must(
        emitted.length === 0 ||
          event.type === "reminder.emitted" ||
          (event.type === "message.sent" && event.origin === "reminder"),
        "emitted reminders are rendered at once",
      );
      switch (event.type) {
        case "inject.accepted":
          must(!messages.has(event.messageId), "an injected message has a new id");
          messages.set(event.messageId, { mode: event.mode, text: textOf(event.content) });
          return;
        case "inject.replaced": {
          const message = messages.get(event.messageId);
          must(message !== undefined, "only a pending message is replaced");
          message.text = textOf(event.content);
          return;
        }
        case "inject.revoked":
          return end(event.messageId, messages.delete(event.messageId));
        case "message.sent":
          if (event.origin === "inject") delivered(event.messageId, event.content);
          if (event.origin !== "reminder") return;
          must(emitted.length > 0, "a rendered block has reminders");
          for (const body of emitted)
            must(textOf(event.content).includes(body), "the block has the body of each reminder");
          emitted = [];
          return;
        case "reminder.queued": {
          const { reminderId, reminder } = event;
          const sender = `${actor?.principal} ${actor?.clientId} ${reminder.source}`;
          const turnsLeft = reminder.ttlTurns ?? Infinity;
          reminders.set(reminderId, { reminder, sender, turnsLeft });
          const same = [...reminders.values()].filter(
            (one) =>
              one.sender === sender &&
              one.reminder.dedupeKey !== undefined &&
              one.reminder.dedupeKey === reminder.dedupeKey,
          );
          must(same.length <= 1, "a key of a sender has one pending reminder");
          return;
        }
        case "reminder.replaced":
        case "reminder.revoked":
          return end(event.reminderId, reminders.delete(event.reminderId));
        case "reminder.expired":
          must(reminders.get(event.reminderId)?.turnsLeft === 1, "a reminder expires with its ttl");
          return end(event.reminderId, reminders.delete(event.reminderId));
        case "reminder.recorded": {
          const { mode } = reminders.get(event.reminderId)?.reminder ?? {};
          must(mode === "audit_only", "only audit_only reminders are recorded");
          return end(event.reminderId, reminders.delete(event.reminderId));
        }
        case "reminder.emitted": {
          const { mode, body } = reminders.get(event.reminderId)?.reminder ?? {};
          must(mode !== "audit_only", "an audit_only reminder never reaches the model");
          must(isTurn && !isInvoking, "a reminder is emitted before an invocation");
          emitted.push(body ?? "");
          return end(event.reminderId, reminders.delete(event.reminderId));
        }
        case "turn.started":
          isTurn = true;
          return;
        case "invocation.started": {
          const isEager = [...messages.values()].some(({ mode }) => mode === "steer");
          // A provider without the point `tool-results` takes the message at the end of the turn.
          // A lost invocation is repeated unchanged.
          if (isEager && !isLost)
            must(event.purpose !== "prompt", "a steer is part of the next invocation");
          isInvoking = true;
          isLost = false;
          return;
        }
        case "invocation.finished":
        case "invocation.lost":
          isInvoking = false;
          isLost = event.type === "invocation.lost";
          return;
        case "turn.finished":
          isTurn = false;
          isInvoking = false;
          for (const one of reminders.values()) {
            must(one.reminder.mode !== "audit_only", "audit_only reminders end with the turn");
            one.turnsLeft -= 1;
            must(one.turnsLeft > 0, "a reminder does not outlive its ttl");
          }
          return;
        default:
          return;
      }
    },
    check({ after }) {
      const pending = listItems(after.steering.pending)
        .map(({ id }) => id)
        .toSorted();
      const seen = [...messages.keys(), ...reminders.keys()].toSorted();
      must(pending.join() === seen.join(), "the state lists exactly the pending injections");
      const positions = listItems(after.steering.pending).map(({ seq }) => seq);
      const isSorted = positions.every((seq, at) => at === 0 || seq > (positions[at - 1] ?? 0));
      must(isSorted, "pending injections are in the order of their acceptance");
      must(
        after.turn.current !== null || messages.size === 0,
        "a message never waits without a turn",
      );
    },
  };
}

function textOf(content: readonly PromptPart[]): string {
  return content.map(formatPromptPart).join("\n");
}
