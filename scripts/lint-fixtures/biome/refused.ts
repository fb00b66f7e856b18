export default function anything(value: any): any {
  return value;
}
