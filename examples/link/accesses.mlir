// What mlir_bounds answers for accesses as tiling and padding leave them.

// A matrix by whole tiles of 16: the extent is the number of tiles times 16.
func.func @tiles(%rows: index, %tiles: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %columns = arith.muli %tiles, %c16 : index
  %a = memref.alloc(%rows, %columns) : memref<?x?xf32>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %t = %c0 to %tiles step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %first = arith.muli %t, %c16 : index
        %column = arith.addi %first, %j : index
        %x = memref.load %a[%i, %column] : memref<?x?xf32>
        memref.store %x, %a[%i, %column] : memref<?x?xf32>
      }
    }
  }
  return
}

// A tail: the last tile is as long as what is left.
#tail = affine_map<(i)[n] -> (32, n - i)>
func.func @tail(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  affine.for %i = 0 to %n step 32 {
    affine.for %j = 0 to min #tail(%i)[%n] {
      %v = affine.load %x[%i + %j] : memref<?xf32>
      affine.store %v, %x[%i + %j] : memref<?xf32>
    }
  }
  return
}

// Slices of a tensor, whole and cut at its end.
func.func @slices(%x: tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  scf.for %i = %c0 to %n step %c32 {
    %left = arith.subi %n, %i : index
    %size = arith.minsi %left, %c32 : index
    %s = tensor.extract_slice %x[%i, 16] [%size, 32] [1, 1]
        : tensor<?x64xf32> to tensor<?x32xf32>
  }
  return
}

// A convolution without padding, and one whose border is guarded.
func.func @convolution(%x: memref<64x64xf32>, %y: memref<?xf32>) {
  affine.for %i = 0 to 62 {
    affine.for %j = 0 to 62 {
      affine.for %u = 0 to 3 {
        affine.for %v = 0 to 3 {
          %p = affine.load %x[%i + %u, %j + %v] : memref<64x64xf32>
        }
      }
    }
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %u = %c0 to %c3 step %c1 {
      %before = arith.addi %i, %u : index
      %at = arith.subi %before, %c1 : index
      %low = arith.cmpi sge, %at, %c0 : index
      %high = arith.cmpi slt, %at, %n : index
      %inside = arith.andi %low, %high : i1
      scf.if %inside {
        %p = memref.load %y[%at] : memref<?xf32>
      }
    }
  }
  return
}

// A flat index taken apart.
func.func @view(%flat: memref<4096xf32>, %x: memref<64x64xf32>) {
  affine.for %i = 0 to 4096 {
    %v = affine.load %flat[%i] : memref<4096xf32>
    affine.store %v, %x[%i floordiv 64, %i mod 64] : memref<64x64xf32>
  }
  return
}

// One too far.
func.func @too_far(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i + 1] : memref<?xf32>
  }
  return
}
