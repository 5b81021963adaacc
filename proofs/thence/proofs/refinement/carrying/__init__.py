"""What a protocol has since its machine has it: safety by the link alone, delivery by what its fair runs do as well."""
