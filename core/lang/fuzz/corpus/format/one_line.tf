output x { value = -!a.*.b[*].c["d"]... ? 1e3 : /* c */ provider::a::b(1, [2]...) }
