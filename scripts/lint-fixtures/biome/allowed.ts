export function anything(value: unknown): unknown {
  return value;
}
