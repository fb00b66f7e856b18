/** Streams and long polls begin in turns: a thousand that open at once would otherwise hold everything else. */
import type { EventLoop } from '../../engine/ports.ts';
import { FairTurns } from '../../fair-turns.ts';
import type { Call, Route } from './routes.ts';

/** How long they may begin in one turn of the event loop. */
const OPENING_MS = 5;
/** What each takes after its first step: one that reads, and one that starts a run. */
const LATER_MS = { GET: 0.3, POST: 1, PUT: 1, DELETE: 1 };

/** Returns what has the requests of a route begin in turns, tenant by tenant, if they may stay open. */
export function openedInTurns(loop: EventLoop): (route: Route) => Route {
  const turns = new FairTurns({ budget: OPENING_MS, nextTurn: (go) => loop.nextTurn(go) });
  return (route) => {
    if (route.scope === null || route.holds !== true) return route;
    const { handle, laterMs = () => undefined } = route;
    const usual = LATER_MS[route.method];
    const begun = (call: Call): Promise<string | undefined> => {
      const begin = loop.elapsedMs();
      const handled = handle(call);
      turns.charge((laterMs(call) ?? usual) + loop.elapsedMs() - begin);
      return handled;
    };
    return { ...route, handle: async (call: Call) => turns.take(call.caller.tenant, () => begun(call)) };
  };
}
