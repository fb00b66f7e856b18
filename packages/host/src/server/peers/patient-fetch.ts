/**
 * The fetch for peers. It hangs up on one that sends informational responses, such as 103, without end: Node reads them
 * for as long as a request may take, and they are part of no body, so that nothing else counts them.
 */

/** What undici, the HTTP client of Node's fetch, calls for a request. */
interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void;
  onRequestUpgrade?(controller: Controller, status: number, headers: unknown, socket: unknown): void;
  onResponseStart?(controller: Controller, status: number, headers: unknown, text: unknown): void;
  onResponseData?(controller: Controller, data: unknown): void;
  onResponseEnd?(controller: Controller, trailers: unknown): void;
  onResponseError?(controller: Controller, error: unknown): void;
}

interface Controller {
  abort(error: Error): void;
}

type Dispatch = (options: unknown, handler: Handler) => boolean;

interface Dispatcher {
  compose(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

/** Before the response that counts. */
const MAX_INFORMATION = 8;

export function patientFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  let known: Dispatcher | undefined;
  let guarded: Dispatcher | undefined;
  return (input, init) => {
    const dispatcher = nodeDispatcher();
    if (dispatcher !== known) {
      known = dispatcher;
      guarded = dispatcher?.compose((dispatch) => (options, handler) => dispatch(options, counting(handler)));
    }
    const guardedInit = { ...init, dispatcher: guarded };
    return fetch(input, guarded === undefined ? init : guardedInit);
  };
}

/** The one that the fetch of Node uses, which is there once something of fetch was looked at. */
function nodeDispatcher(): Dispatcher | undefined {
  Reflect.get(globalThis, 'Request');
  return Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'));
}

function counting(handler: Handler): Handler {
  let information = 0;
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStart: (controller, status, headers, text) => {
      if (status < 200) information += 1;
      if (information > MAX_INFORMATION) controller.abort(new Error('too many informational responses'));
      else handler.onResponseStart?.(controller, status, headers, text);
    },
    onResponseData: (controller, data) => handler.onResponseData?.(controller, data),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}
