import type { WatchAdded, WatchEvent } from "../../domain/events/watch-events.ts";

/** The subscriptions of a session, in the order of their creation. */
export interface WatchesState {
  readonly subscriptions: readonly Subscription[];
}

export type Subscription = Omit<WatchAdded, "type">;

export const initialWatches: WatchesState = { subscriptions: [] };

export function evolveWatches(state: WatchesState, event: WatchEvent): WatchesState {
  switch (event.type) {
    case "watch.added": {
      const { type: _, ...subscription } = event;
      return { subscriptions: [...state.subscriptions, subscription] };
    }
    case "watch.removed":
      return {
        subscriptions: state.subscriptions.filter(
          ({ subscriptionId }) => subscriptionId !== event.subscriptionId,
        ),
      };
    case "files.changed":
      return state;
    default:
      return event satisfies never;
  }
}

/** The subscriptions whose files are watched now. A client's subscription rests while the client is not attached. */
export function listActiveSubscriptions(
  { subscriptions }: WatchesState,
  attached: readonly { readonly clientId: string }[],
): readonly Subscription[] {
  return subscriptions.filter(
    ({ owner }) =>
      owner.kind !== "client" || attached.some(({ clientId }) => clientId === owner.clientId),
  );
}
