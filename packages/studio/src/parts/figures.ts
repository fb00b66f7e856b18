/** Figures in few characters, so that they stand under each other. */

/** `950`, `1.2k`, `34k`, `5.6M`. */
export function shortCount(count: number): string {
  if (count < 1_000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** `$0.004`, `$1.20`; an em dash stands for nothing spent. */
export function shortCost(usd: number): string {
  if (usd <= 0) return '–';
  if (usd < 0.001) return '<$0.001';
  return `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

/** Cut in the middle: ids differ at their ends. */
export const shortId = (id: string): string => (id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`);

/** The last part of an agent's id: `vendor.acme.desk.triage` is `triage`. */
export const shortAgent = (agentId: string): string => agentId.split(/[.:]/).at(-1) ?? agentId;
