export const now = Date.now(); // refused
export const today = new Date(); // refused
export const spelled = Date['now'](); // refused
export const passed = [Date]; // refused
export const chance = Math.random(); // refused
const { random } = Math; // refused
export const uuid = crypto.randomUUID(); // refused
export const bytes = crypto.getRandomValues(new Uint8Array(4)); // refused
export const timer = setTimeout(() => 1, 5); // refused
export const ticker = setInterval(() => 1, 5); // refused
export const soon = setImmediate(() => 1); // refused
export const limit = AbortSignal.timeout(5); // refused
export const page = fetch('http://127.0.0.1'); // refused
export const pid = process.pid; // refused
export const measured = performance.now(); // refused
export const hidden = globalThis.fetch; // refused
export const bag = { fetch }; // refused
export const as = (setTimeout as unknown) !== undefined; // refused
export const nested = (): number => {
  const inner = { at: Date.now() }; // refused
  return inner.at;
};
console.log(random); // refused
export const size = Buffer.byteLength('text'); // refused
