/**
 * A function of expressions with its price. The evaluation charges the price before it calls the function, and passes
 * only arguments of the kinds in its signature.
 */
export interface Priced {
  price(a: unknown, b: unknown, c: unknown): number;
  run(a: unknown, b: unknown, c: unknown): unknown;
}

export const priced = (price: number | Priced['price'], run: Priced['run']): Priced => ({
  price: typeof price === 'number' ? () => price : price,
  run,
});
